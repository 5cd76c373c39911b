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

const inlineImage = { type: 'image', source: { type: 'base64', media_type: samples.imageType, data: samples.imageData } };

function writeImage(image: 'inline' | 'address' | 'private' | 'file'): Wire {
  if (image === 'inline') return inlineImage;
  if (image !== 'file') return { type: 'image', source: { type: 'url', url: samples.addressOf(image) } };
  return { type: 'image', source: { type: 'file', file_id: samples.vendorFile } };
}

function writeDocument(document: 'pdf' | 'address' | 'private' | 'text' | 'file'): Wire {
  const sources = {
    pdf: { type: 'base64', media_type: 'application/pdf', data: samples.pdfData },
    address: { type: 'url', url: samples.documentAddress },
    private: { type: 'url', url: samples.privateDocumentAddress },
    text: { type: 'text', media_type: 'text/plain', data: samples.documentText },
    file: { type: 'file', file_id: samples.vendorFile },
  };
  return { type: 'document', source: sources[document], ...(document === 'pdf' ? { title: samples.pdfName } : {}) };
}

function writeResultContent(content: ResultContent): Wire {
  if (typeof content === 'string') return content;
  if ('json' in content) return JSON.stringify(content.json);
  return [{ type: 'text', text: content.text }, inlineImage];
}

function writePart(part: SpokenPart): Wire {
  if (typeof part === 'string') return { type: 'text', text: part };
  if ('image' in part) {
    if (part.detail !== undefined) throw new Inexpressible('detail');
    return writeImage(part.image);
  }
  if ('document' in part) return writeDocument(part.document);
  if ('call' in part) {
    if (part.rawArguments !== undefined) throw new Inexpressible('arguments as text');
    return { type: 'tool_use', id: part.call, name: part.name, input: part.arguments ?? {} };
  }
  if ('result' in part) {
    const error = part.isError === true ? { is_error: true } : {};
    return { type: 'tool_result', tool_use_id: part.result, content: writeResultContent(part.content), ...error };
  }
  throw new Inexpressible(Object.keys(part)[0]);
}

function writeTurn({ role, parts, verbatim }: SpokenTurn): readonly Wire[] {
  if (verbatim !== undefined) return verbatim;
  const [only, ...others] = parts;
  if (typeof only === 'string' && others.length === 0) return [{ role, content: only }];
  return [{ role, content: parts.map(writePart) }];
}

function writeTools({ tools = [], search, codeExecution }: Conversation): readonly Wire[] {
  const functions = tools.map(({ name, description, schema, strict }) => ({
    name,
    ...(description === undefined ? {} : { description }),
    input_schema: schema ?? { type: 'object' },
    ...(strict === undefined ? {} : { strict }),
  }));
  const domains = search?.allowedDomains === undefined ? {} : { allowed_domains: search.allowedDomains };
  return [
    ...functions,
    ...(search === undefined ? [] : [{ type: 'web_search_20250305', name: 'web_search', ...domains }]),
    ...(codeExecution === true ? [{ type: 'code_execution_20250825', name: 'code_execution' }] : []),
  ];
}

function writeChoice({ choice, parallel }: Conversation): Wire {
  const single = parallel === undefined ? {} : { disable_parallel_tool_use: !parallel };
  if (choice === undefined) return parallel === undefined ? {} : { tool_choice: { type: 'auto', ...single } };
  if (choice === 'none') return { tool_choice: { type: 'none' } };
  if (choice === 'auto') return { tool_choice: { type: 'auto', ...single } };
  if (choice === 'required') return { tool_choice: { type: 'any', ...single } };
  if ('name' in choice) return { tool_choice: { type: 'tool', name: choice.name, ...single } };
  throw new Inexpressible('a choice among some tools');
}

const tiers = { auto: 'auto', default: 'standard_only' } as const;

function writeSettings(conversation: Conversation): Wire {
  const { temperature, topP, topK, stop, user, tier, format, thinking } = conversation;
  for (const name of ['seed', 'presencePenalty', 'frequencyPenalty', 'count'] as const) {
    if (conversation[name] !== undefined) throw new Inexpressible(name);
  }
  if (temperature !== undefined && temperature > 1) throw new Inexpressible('temperature above 1');
  if (format === 'json' || tier === 'flex' || tier === 'priority') throw new Inexpressible('format or tier');
  const effort = typeof thinking === 'object' && 'effort' in thinking ? { effort: thinking.effort } : {};
  const schema = format === undefined ? {} : { format: { type: 'json_schema', schema: format.schema } };
  const output = { ...effort, ...schema };
  return {
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { top_p: topP }),
    ...(topK === undefined ? {} : { top_k: topK }),
    ...(stop === undefined ? {} : { stop_sequences: stop }),
    ...(user === undefined ? {} : { metadata: { user_id: user } }),
    ...(tier === undefined ? {} : { service_tier: tiers[tier] }),
    ...(thinking === undefined ? {} : { thinking: writeThinking(thinking) }),
    ...(Object.keys(output).length === 0 ? {} : { output_config: output }),
  };
}

function writeThinking(thinking: NonNullable<Conversation['thinking']>): Wire {
  if (thinking === 'off') return { type: 'disabled' };
  return 'budget' in thinking ? { type: 'enabled', budget_tokens: thinking.budget } : { type: 'adaptive' };
}

/** Writes a call of the Messages interface. */
export function writeMessagesCall(conversation: Conversation, model: string, stream: boolean): ClientCall {
  const { system = [], turns, outputTokensMax, wire } = conversation;
  if (wire !== undefined && wire['anthropic-messages'] === undefined) throw new Inexpressible('another dialect');
  const tools = writeTools(conversation);
  const [only, ...others] = system;
  return {
    path: '/v1/messages',
    headers: { 'anthropic-version': '2023-06-01' },
    body: {
      model,
      max_tokens: outputTokensMax ?? 1000,
      ...(only === undefined ? {} : { system: others.length === 0 ? only : system.map((text) => ({ type: 'text', text })) }),
      messages: turns.flatMap(writeTurn),
      ...(tools.length === 0 ? {} : { tools }),
      ...writeChoice(conversation),
      ...writeSettings(conversation),
      ...(stream ? { stream: true } : {}),
      ...wire?.['anthropic-messages'],
    },
  };
}
