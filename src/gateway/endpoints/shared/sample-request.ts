import { chatDialects } from '../../../dialects/registry.ts';
import type { DialectId } from '../../../dialects/dialect-id.ts';
import type { ModelKind } from '../../../inference/interfaces.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';

/** How a model is called: by the interface of a chat, or by what models of another kind do. */
export type SampleInterface = DialectId | Exclude<ModelKind, 'chat'>;

/** Whether it is the interface of a chat. */
export function isChatInterface(name: SampleInterface): name is DialectId {
  return Object.hasOwn(chatDialects, name);
}

/** The properties of a call that nobody has made. Only calls of chats have streams, images and tools. */
export type SampleFacts = {
  readonly model: string;
  readonly stream?: boolean | undefined;
  /** Whether the message has an image. */
  readonly images?: boolean | undefined;
  /** Whether a tool is offered. */
  readonly tools?: boolean | undefined;
  /** About how many tokens the text has; a short sentence if absent. */
  readonly inputTokens?: number | undefined;
  readonly outputTokensMax?: number | undefined;
};

/** A request as a client would send it. */
export type SampleRequest = { readonly path: string; readonly headers: Readonly<Record<string, string>>; readonly body: JsonObject };

const question = 'Reply with the single word: ok';
/** The characters of a token, as input is estimated from its text. */
const tokenCharacters = 4;
/** Messages refuses a call without a limit of its output. */
const outputTokensDefault = 1024;
/** One transparent pixel. */
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
const parameters: JsonObject = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const tool = { name: 'get_weather', description: 'The weather of a city.' };

/** Writes a valid request with these properties. It asks for one word, and so costs next to nothing if it is sent. */
export function writeSample(name: SampleInterface, facts: SampleFacts): SampleRequest {
  const text = writeText(facts.inputTokens);
  if (!isChatInterface(name)) return { headers: {}, ...writeOther(name, facts.model, text) };
  const headers = name === 'anthropic-messages' ? { 'anthropic-version': '2023-06-01' } : {};
  return { headers, ...chats[name](facts, text) };
}

function writeText(tokens: number | undefined): string {
  return tokens === undefined
    ? question
    : 'One more word. '.repeat(Math.ceil((tokens * tokenCharacters) / 15)).slice(0, tokens * tokenCharacters);
}

type Written = Pick<SampleRequest, 'path' | 'body'>;

const streaming = ({ stream }: SampleFacts) => (stream === true ? { stream: true } : {});

const chats: Readonly<Record<DialectId, (facts: SampleFacts, text: string) => Written>> = {
  'openai-chat': (facts, text) => {
    const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } };
    const content = facts.images === true ? [{ type: 'text', text }, image] : text;
    return {
      path: '/v1/chat/completions',
      body: {
        model: facts.model,
        messages: [{ role: 'user', content }],
        ...streaming(facts),
        ...(facts.outputTokensMax !== undefined && { max_completion_tokens: facts.outputTokensMax }),
        ...(facts.tools === true && { tools: [{ type: 'function', function: { ...tool, parameters } }] }),
      },
    };
  },
  'openai-responses': (facts, text) => {
    const image = { type: 'input_image', image_url: `data:image/png;base64,${png}` };
    const content = facts.images === true ? [{ type: 'input_text', text }, image] : text;
    return {
      path: '/v1/responses',
      body: {
        model: facts.model,
        input: [{ role: 'user', content }],
        store: false,
        ...streaming(facts),
        ...(facts.outputTokensMax !== undefined && { max_output_tokens: facts.outputTokensMax }),
        ...(facts.tools === true && { tools: [{ type: 'function', ...tool, parameters, strict: false }] }),
      },
    };
  },
  'anthropic-messages': (facts, text) => {
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } };
    const content = facts.images === true ? [{ type: 'text', text }, image] : text;
    return {
      path: '/v1/messages',
      body: {
        model: facts.model,
        max_tokens: facts.outputTokensMax ?? outputTokensDefault,
        messages: [{ role: 'user', content }],
        ...streaming(facts),
        ...(facts.tools === true && { tools: [{ ...tool, input_schema: parameters }] }),
      },
    };
  },
  'gemini-generate-content': (facts, text) => {
    const image = { inlineData: { mimeType: 'image/png', data: png } };
    const method = facts.stream === true ? 'streamGenerateContent?alt=sse' : 'generateContent';
    return {
      path: `/v1beta/models/${encodeURIComponent(facts.model)}:${method}`,
      body: {
        contents: [{ role: 'user', parts: [{ text }, ...(facts.images === true ? [image] : [])] }],
        ...(facts.outputTokensMax !== undefined && { generationConfig: { maxOutputTokens: facts.outputTokensMax } }),
        ...(facts.tools === true && { tools: [{ functionDeclarations: [{ ...tool, parameters }] }] }),
      },
    };
  },
};

function writeOther(kind: Exclude<ModelKind, 'chat'>, model: string, text: string): Written {
  switch (kind) {
    case 'embeddings':
      return { path: '/v1/embeddings', body: { model, input: text } };
    case 'rerank':
      return { path: '/v1/rerank', body: { model, query: text, documents: ['ok', 'no'] } };
    case 'moderation':
      return { path: '/v1/moderations', body: { model, input: text } };
    case 'speech':
      return { path: '/v1/audio/speech', body: { model, input: text, voice: 'alloy' } };
    case 'transcription':
      // As a quote takes it: a call has a file.
      return { path: '/v1/audio/transcriptions', body: { model, file: { duration_seconds: 60 } } };
    case 'image':
      return { path: '/v1/images/generations', body: { model, prompt: text } };
    case 'video':
      return { path: '/v1/videos', body: { model, prompt: text } };
  }
}
