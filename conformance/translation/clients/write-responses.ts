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

function writeImage({ image, detail }: Extract<SpokenPart, { image: string }>): Wire {
  const more = detail === undefined ? {} : { detail };
  if (image === 'file') return { type: 'input_image', file_id: samples.vendorFile, ...more };
  const address = image === 'inline' ? `data:${samples.imageType};base64,${samples.imageData}` : samples.addressOf(image);
  return { type: 'input_image', image_url: address, ...more };
}

function writeDocument(document: 'pdf' | 'address' | 'private' | 'text' | 'file'): Wire {
  if (document === 'file') return { type: 'input_file', file_id: samples.vendorFile };
  if (document === 'address') return { type: 'input_file', file_url: samples.documentAddress };
  if (document === 'private') return { type: 'input_file', file_url: samples.privateDocumentAddress };
  if (document === 'text') throw new Inexpressible('a document of plain text');
  return { type: 'input_file', filename: samples.pdfName, file_data: `data:application/pdf;base64,${samples.pdfData}` };
}

function writeContentPart(part: SpokenPart, role: SpokenTurn['role']): Wire {
  if (typeof part === 'string') return { type: role === 'assistant' ? 'output_text' : 'input_text', text: part };
  if ('image' in part) return writeImage(part);
  if ('document' in part) return writeDocument(part.document);
  if ('refusal' in part) return { type: 'refusal', refusal: part.refusal };
  throw new Inexpressible(Object.keys(part)[0]);
}

function writeOutput(content: ResultContent): Wire {
  if (typeof content === 'string') return content;
  if ('json' in content) return JSON.stringify(content.json);
  return [{ type: 'input_text', text: content.text }, writeImage({ image: content.image })];
}

function isItem(part: SpokenPart): part is Extract<SpokenPart, { call: string } | { result: string }> {
  return typeof part === 'object' && ('call' in part || 'result' in part);
}

function writeItem(part: Extract<SpokenPart, { call: string } | { result: string }>): Wire {
  if ('call' in part) {
    const text = part.rawArguments ?? JSON.stringify(part.arguments ?? {});
    return { type: 'function_call', call_id: part.call, name: part.name, arguments: text };
  }
  if (part.isError === true) throw new Inexpressible('a mark of errors');
  return { type: 'function_call_output', call_id: part.result, output: writeOutput(part.content) };
}

/** Consecutive parts are one message; calls and results are items of their own. */
function writeTurn({ role, parts, verbatim }: SpokenTurn): readonly Wire[] {
  if (verbatim !== undefined) return verbatim;
  const items: Wire[] = [];
  let content: SpokenPart[] = [];
  const close = (): void => {
    const [only, ...others] = content;
    if (typeof only === 'string' && others.length === 0) items.push({ role, content: only });
    else if (content.length > 0) items.push({ type: 'message', role, content: content.map((part) => writeContentPart(part, role)) });
    content = [];
  };
  for (const part of parts) {
    if (!isItem(part)) content.push(part);
    else {
      close();
      items.push(writeItem(part));
    }
  }
  close();
  return items;
}

function writeTools({ tools = [], search, codeExecution }: Conversation): readonly Wire[] {
  const functions = tools.map(({ name, description, schema, strict }) => ({
    type: 'function',
    name,
    ...(description === undefined ? {} : { description }),
    parameters: schema ?? null,
    ...(strict === undefined ? {} : { strict }),
  }));
  const filters = search?.allowedDomains === undefined ? {} : { filters: { allowed_domains: search.allowedDomains } };
  return [
    ...functions,
    ...(search === undefined ? [] : [{ type: 'web_search', ...filters }]),
    ...(codeExecution === true ? [{ type: 'code_interpreter', container: { type: 'auto' } }] : []),
  ];
}

function writeChoice({ choice, parallel }: Conversation): Wire {
  const single = parallel === undefined ? {} : { parallel_tool_calls: parallel };
  if (choice === undefined) return single;
  if (typeof choice === 'string') return { tool_choice: choice, ...single };
  if ('name' in choice) return { tool_choice: { type: 'function', name: choice.name }, ...single };
  const tools = choice.allowed.map((name) => ({ type: 'function', name }));
  return { tool_choice: { type: 'allowed_tools', mode: choice.required ? 'required' : 'auto', tools }, ...single };
}

function writeFormat(format: Conversation['format']): Wire {
  if (format === undefined) return {};
  if (format === 'json') return { text: { format: { type: 'json_object' } } };
  const { name, schema, strict } = format;
  return { text: { format: { type: 'json_schema', name, schema, ...(strict === undefined ? {} : { strict }) } } };
}

function writeThinking(thinking: Conversation['thinking']): Wire {
  if (thinking === undefined) return {};
  if (thinking === 'off') return { reasoning: { effort: 'none' } };
  if ('budget' in thinking) throw new Inexpressible('a budget');
  return { reasoning: { effort: thinking.effort, summary: 'auto' }, include: ['reasoning.encrypted_content'] };
}

function writeSettings(conversation: Conversation): Wire {
  const { temperature, topP, user, tier, outputTokensMax } = conversation;
  for (const name of ['topK', 'seed', 'presencePenalty', 'frequencyPenalty', 'stop', 'count'] as const) {
    if (conversation[name] !== undefined) throw new Inexpressible(name);
  }
  return {
    ...(outputTokensMax === undefined ? {} : { max_output_tokens: outputTokensMax }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { top_p: topP }),
    ...(user === undefined ? {} : { user }),
    ...(tier === undefined ? {} : { service_tier: tier }),
    ...writeThinking(conversation.thinking),
    ...writeFormat(conversation.format),
  };
}

/** Writes a call of the Responses interface. Nothing is stored, like requests of agents. */
export function writeResponsesCall(conversation: Conversation, model: string, stream: boolean): ClientCall {
  const { system = [], turns, wire } = conversation;
  if (wire !== undefined && wire['openai-responses'] === undefined) throw new Inexpressible('another dialect');
  const tools = writeTools(conversation);
  const [instructions, ...developer] = system;
  return {
    path: '/v1/responses',
    headers: {},
    body: {
      model,
      ...(instructions === undefined ? {} : { instructions }),
      input: [...developer.map((content) => ({ role: 'developer', content })), ...turns.flatMap(writeTurn)],
      ...(tools.length === 0 ? {} : { tools }),
      ...writeChoice(conversation),
      ...writeSettings(conversation),
      store: false,
      ...(stream ? { stream: true } : {}),
      ...wire?.['openai-responses'],
    },
  };
}
