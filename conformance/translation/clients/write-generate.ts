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

const inlineImage = { inlineData: { mimeType: samples.imageType, data: samples.imageData } };

function writeMedia(part: Extract<SpokenPart, { image: string } | { document: string } | { audio: string } | { video: string }>): Wire {
  if ('audio' in part) return { inlineData: { mimeType: 'audio/wav', data: samples.wavData } };
  if ('video' in part) return { inlineData: { mimeType: 'video/mp4', data: samples.mp4Data } };
  if ('image' in part) {
    if (part.detail !== undefined) throw new Inexpressible('detail of one image');
    if (part.image === 'inline') return inlineImage;
    const fileUri =
      part.image === 'file'
        ? `https://generativelanguage.googleapis.com/v1beta/files/${samples.vendorFile}`
        : samples.addressOf(part.image);
    return { fileData: { mimeType: samples.imageType, fileUri } };
  }
  const pdf = { mimeType: 'application/pdf' };
  if (part.document === 'pdf') return { inlineData: { ...pdf, data: samples.pdfData } };
  if (part.document === 'address') return { fileData: { ...pdf, fileUri: samples.documentAddress } };
  if (part.document === 'private') throw new Inexpressible('a document at an address');
  if (part.document === 'text')
    return { inlineData: { mimeType: 'text/plain', data: Buffer.from(samples.documentText).toString('base64') } };
  return { fileData: { ...pdf, fileUri: `https://generativelanguage.googleapis.com/v1beta/files/${samples.vendorFile}` } };
}

function writeResponse(content: ResultContent, isError: boolean): Wire {
  if (isError) return { response: { error: typeof content === 'string' ? content : JSON.stringify(content) } };
  if (typeof content === 'string') return { response: { result: content } };
  if ('json' in content) {
    return { response: typeof content.json === 'object' && !Array.isArray(content.json) ? content.json : { result: content.json } };
  }
  throw new Inexpressible('images in results');
}

/** Clients of this interface do not use ids; they identify calls by name and order. */
function writePart(part: SpokenPart): Wire {
  if (typeof part === 'string') return { text: part };
  if ('call' in part) {
    if (part.rawArguments !== undefined) throw new Inexpressible('arguments as text');
    return { functionCall: { name: part.name, ...(part.arguments === undefined ? {} : { args: part.arguments }) } };
  }
  if ('result' in part) return { functionResponse: { name: part.name, ...writeResponse(part.content, part.isError === true) } };
  if ('refusal' in part) throw new Inexpressible('a refusal');
  return writeMedia(part);
}

function writeTurn({ role, parts, verbatim }: SpokenTurn): readonly Wire[] {
  if (verbatim !== undefined) return verbatim;
  if (role === 'system') throw new Inexpressible('system text in the middle of a conversation');
  return [{ role: role === 'assistant' ? 'model' : 'user', parts: parts.map(writePart) }];
}

function writeTools({ tools = [], search, codeExecution }: Conversation): readonly Wire[] {
  if (search?.allowedDomains !== undefined) throw new Inexpressible('allowed domains');
  const functions = tools.map(({ name, description, schema, strict }) => {
    if (strict !== undefined) throw new Inexpressible('strict');
    return {
      name,
      ...(description === undefined ? {} : { description }),
      ...(schema === undefined ? {} : { parametersJsonSchema: schema }),
    };
  });
  return [
    ...(functions.length === 0 ? [] : [{ functionDeclarations: functions }]),
    ...(search === undefined ? [] : [{ googleSearch: {} }]),
    ...(codeExecution === true ? [{ codeExecution: {} }] : []),
  ];
}

function writeChoice({ choice, parallel }: Conversation): Wire {
  if (parallel !== undefined) throw new Inexpressible('parallel calls');
  if (choice === undefined) return {};
  const modes = { auto: 'AUTO', required: 'ANY', none: 'NONE' } as const;
  const config = (): Wire => {
    if (typeof choice === 'string') return { mode: modes[choice] };
    if ('name' in choice) return { mode: 'ANY', allowedFunctionNames: [choice.name] };
    if (!choice.required) throw new Inexpressible('an optional choice among some tools');
    return { mode: 'ANY', allowedFunctionNames: choice.allowed };
  };
  return { toolConfig: { functionCallingConfig: config() } };
}

function writeFormat(format: Conversation['format']): Wire {
  if (format === undefined) return {};
  if (format === 'json') return { responseMimeType: 'application/json' };
  if (format.strict !== undefined) throw new Inexpressible('strict');
  return { responseMimeType: 'application/json', responseJsonSchema: format.schema };
}

function writeThinking(thinking: Conversation['thinking']): Wire {
  if (thinking === undefined) return {};
  if (thinking === 'off') return { thinkingConfig: { thinkingBudget: 0 } };
  if ('budget' in thinking) return { thinkingConfig: { includeThoughts: true, thinkingBudget: thinking.budget } };
  return { thinkingConfig: { includeThoughts: true, thinkingLevel: thinking.effort.toUpperCase() } };
}

function writeSettings(conversation: Conversation): Wire {
  const { outputTokensMax, temperature, topP, topK, seed, presencePenalty, frequencyPenalty, stop, count } = conversation;
  if (conversation.user !== undefined) throw new Inexpressible('a user');
  const config = {
    ...(outputTokensMax === undefined ? {} : { maxOutputTokens: outputTokensMax }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { topP }),
    ...(topK === undefined ? {} : { topK }),
    ...(seed === undefined ? {} : { seed }),
    ...(presencePenalty === undefined ? {} : { presencePenalty }),
    ...(frequencyPenalty === undefined ? {} : { frequencyPenalty }),
    ...(stop === undefined ? {} : { stopSequences: stop }),
    ...(count === undefined ? {} : { candidateCount: count }),
    ...writeFormat(conversation.format),
    ...writeThinking(conversation.thinking),
  };
  return Object.keys(config).length === 0 ? {} : { generationConfig: config };
}

const tiers = { default: 'standard', flex: 'flex', priority: 'priority' } as const;

/** Writes a call of the generate-content interface. */
export function writeGenerateCall(conversation: Conversation, model: string, stream: boolean): ClientCall {
  const { system = [], turns, tier, wire } = conversation;
  if (wire !== undefined && wire['gemini-generate-content'] === undefined) throw new Inexpressible('another dialect');
  if (tier === 'auto') throw new Inexpressible('tier auto');
  const tools = writeTools(conversation);
  return {
    path: `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    headers: {},
    body: {
      ...(system.length === 0 ? {} : { systemInstruction: { parts: system.map((text) => ({ text })) } }),
      contents: turns.flatMap(writeTurn),
      ...(tools.length === 0 ? {} : { tools }),
      ...writeChoice(conversation),
      ...writeSettings(conversation),
      ...(tier === undefined ? {} : { serviceTier: tiers[tier] }),
      ...wire?.['gemini-generate-content'],
    },
  };
}
