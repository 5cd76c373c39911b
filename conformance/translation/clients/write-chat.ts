import {
  type ClientCall,
  type Conversation,
  type ResultContent,
  type SpokenPart,
  type SpokenTurn,
  Inexpressible,
} from '../conversation.ts';
import * as samples from '../samples.ts';
import type { Wire } from '../wire.ts';

function writeContentPart(part: SpokenPart): Wire {
  if (typeof part === 'string') return { type: 'text', text: part };
  if ('image' in part) {
    if (part.image === 'file') throw new Inexpressible('an image by file id');
    const url = part.image === 'inline' ? `data:${samples.imageType};base64,${samples.imageData}` : samples.addressOf(part.image);
    return { type: 'image_url', image_url: { url, ...(part.detail === undefined ? {} : { detail: part.detail }) } };
  }
  if ('document' in part) {
    if (part.document === 'file') return { type: 'file', file: { file_id: samples.vendorFile } };
    if (part.document !== 'pdf') throw new Inexpressible('documents other than PDF');
    return { type: 'file', file: { filename: samples.pdfName, file_data: `data:application/pdf;base64,${samples.pdfData}` } };
  }
  if ('audio' in part) return { type: 'input_audio', input_audio: { data: samples.wavData, format: 'wav' } };
  throw new Inexpressible(Object.keys(part)[0]);
}

function writeResultContent(content: ResultContent): string {
  if (typeof content === 'string') return content;
  if ('json' in content) return JSON.stringify(content.json);
  throw new Inexpressible('images in results');
}

function writeCall(part: Extract<SpokenPart, { call: string }>): Wire {
  const text = part.rawArguments ?? JSON.stringify(part.arguments ?? {});
  return { id: part.call, type: 'function', function: { name: part.name, arguments: text } };
}

/** An assistant's turn is one message: its text, then its calls. */
function writeAssistant(parts: readonly SpokenPart[]): Wire {
  const texts = parts.filter((part) => typeof part === 'string');
  const calls = parts.filter((part) => typeof part === 'object' && 'call' in part);
  const refusals = parts.filter((part) => typeof part === 'object' && 'refusal' in part);
  if (texts.length + calls.length + refusals.length < parts.length) throw new Inexpressible('media of the assistant');
  return {
    role: 'assistant',
    content: texts.length === 0 ? null : texts.join(''),
    ...(refusals[0] === undefined ? {} : { refusal: refusals[0].refusal }),
    ...(calls.length === 0 ? {} : { tool_calls: calls.map(writeCall) }),
  };
}

function writeTurn({ role, parts, verbatim }: SpokenTurn): readonly Wire[] {
  if (verbatim !== undefined) return verbatim;
  if (role === 'assistant') return [writeAssistant(parts)];
  const results = parts.filter((part) => typeof part === 'object' && 'result' in part);
  const others = parts.filter((part) => typeof part === 'string' || !('result' in part));
  const messages: Wire[] = results.map((part) => {
    if (part.isError === true) throw new Inexpressible('a mark of errors');
    return { role: 'tool', tool_call_id: part.result, content: writeResultContent(part.content) };
  });
  const [only, ...more] = others;
  if (typeof only === 'string' && more.length === 0) messages.push({ role, content: only });
  else if (others.length > 0) messages.push({ role, content: others.map(writeContentPart) });
  return messages;
}

function writeChoice({ choice, parallel }: Conversation): Wire {
  const single = parallel === undefined ? {} : { parallel_tool_calls: parallel };
  if (choice === undefined) return single;
  if (typeof choice === 'string') return { tool_choice: choice, ...single };
  if ('name' in choice) return { tool_choice: { type: 'function', function: { name: choice.name } }, ...single };
  const tools = choice.allowed.map((name) => ({ type: 'function', function: { name } }));
  return { tool_choice: { type: 'allowed_tools', allowed_tools: { mode: choice.required ? 'required' : 'auto', tools } }, ...single };
}

function writeFormat(format: Conversation['format']): Wire {
  if (format === undefined) return {};
  if (format === 'json') return { response_format: { type: 'json_object' } };
  const { name, schema, strict } = format;
  return { response_format: { type: 'json_schema', json_schema: { name, schema, ...(strict === undefined ? {} : { strict }) } } };
}

function writeSettings(conversation: Conversation): Wire {
  const { temperature, topP, seed, presencePenalty, frequencyPenalty, stop, user, tier, thinking, count, outputTokensMax } = conversation;
  if (conversation.topK !== undefined) throw new Inexpressible('top_k');
  if (typeof thinking === 'object' && 'budget' in thinking) throw new Inexpressible('a budget');
  const effort = thinking === 'off' ? 'none' : thinking?.effort;
  return {
    ...(outputTokensMax === undefined ? {} : { max_completion_tokens: outputTokensMax }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { top_p: topP }),
    ...(seed === undefined ? {} : { seed }),
    ...(presencePenalty === undefined ? {} : { presence_penalty: presencePenalty }),
    ...(frequencyPenalty === undefined ? {} : { frequency_penalty: frequencyPenalty }),
    ...(stop === undefined ? {} : { stop: stop.length === 1 ? stop[0] : stop }),
    ...(user === undefined ? {} : { user }),
    ...(tier === undefined ? {} : { service_tier: tier }),
    ...(effort === undefined ? {} : { reasoning_effort: effort }),
    ...(count === undefined ? {} : { n: count }),
    ...writeFormat(conversation.format),
  };
}

/** Writes a call of the chat completions interface. */
export function writeChatCall(conversation: Conversation, model: string, stream: boolean): ClientCall {
  const { system = [], turns, tools = [], search, codeExecution, wire } = conversation;
  if (wire !== undefined && wire['openai-chat'] === undefined) throw new Inexpressible('another dialect');
  if (codeExecution === true || search?.allowedDomains !== undefined) throw new Inexpressible('a server tool');
  const functions = tools.map(({ name, description, schema, strict }) => ({
    type: 'function',
    function: {
      name,
      ...(description === undefined ? {} : { description }),
      ...(schema === undefined ? {} : { parameters: schema }),
      ...(strict === undefined ? {} : { strict }),
    },
  }));
  return {
    path: '/v1/chat/completions',
    headers: {},
    body: {
      model,
      messages: [...system.map((content) => ({ role: 'system', content })), ...turns.flatMap(writeTurn)],
      ...(functions.length === 0 ? {} : { tools: functions }),
      ...writeChoice(conversation),
      ...writeSettings(conversation),
      ...(search === undefined ? {} : { web_search_options: {} }),
      ...(stream ? { stream: true, stream_options: { include_usage: true } } : {}),
      ...wire?.['openai-chat'],
    },
  };
}
