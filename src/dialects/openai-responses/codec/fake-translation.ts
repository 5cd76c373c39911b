import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { GatewayError } from '../../../inference/gateway-error.ts';
import { createEventFolder } from '../../../inference/fold-events.ts';
import type { InferenceEvent } from '../../../inference/inference-event.ts';
import type { InferenceReply } from '../../../inference/inference-reply.ts';
import type { InferenceRequest } from '../../../inference/inference-request.ts';
import type { ModelTraits } from '../../../inference/model-traits.ts';
import { createTranslationNotes, type FieldNames } from '../../../inference/translation-notes.ts';
import { textOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { createSseFrameReader } from '../../../platform/sse/sse-frame-reader.ts';
import type { EncodedRequest, ReplyReading, ReplyWriting, RequestFit } from '../../chat-codec.ts';
import { validateRequest } from '../validate-request.ts';
import { openaiResponsesCodec as codec } from './codec.ts';

/** A model of the vendor that can do everything. */
const traits: ModelTraits = {
  reasoning: 'effort',
  alwaysReasons: false,
  fixedSampling: false,
  structuredOutput: true,
  jsonSchemaTools: true,
  fetchesUrls: true,
  imagesInToolResults: true,
  prefill: false,
  webSearch: true,
  codeExecution: true,
  mixesTools: true,
  requiresProofs: false,
  chat: {
    outputLimitField: 'max_completion_tokens',
    systemRole: 'developer',
    streamOptions: true,
    parallelToolCallsField: true,
    forcedToolChoice: true,
    reasoningField: 'reasoning_effort',
    acceptsTopK: false,
  },
};

/** Names of fields as another dialect might spell them, so that notes show whose names are used. */
const clientNames: FieldNames = { ...codec.fieldNames, stopSequences: 'stop', topK: 'top_k', seed: 'seed', turns: 'messages' };

export function createFit(differing: Partial<ModelTraits> = {}, strict = false): RequestFit {
  const notes = createTranslationNotes(clientNames, strict);
  return { upstreamModel: 'upstream-model', traits: { ...traits, ...differing }, proofOrigin: 'openai', notes };
}

/** Ids that count up, so that two runs give the same. */
function countIds(): (prefix: string) => string {
  let next = 0;
  return (prefix) => `${prefix}_${next++}`;
}

export const createReading = (): ReplyReading => ({
  proofOrigin: 'openai',
  newId: countIds(),
  notes: createTranslationNotes(codec.fieldNames, false),
});

export const createWriting = (request: JsonObject = {}): ReplyWriting => ({
  requestId: 'req_1',
  requestedModel: 'asked-model',
  request: { model: 'asked-model', input: 'Hi', ...request },
  createdAtMs: 1_794_000_000_500,
  inputTokensEstimate: 7,
  newId: countIds(),
  notes: createTranslationNotes(codec.fieldNames, false),
});

/** A request that says nothing but what is given. */
export const requestOf = (said: Partial<InferenceRequest> = {}): InferenceRequest => ({
  model: 'asked-model',
  stream: false,
  instructions: [],
  turns: [{ role: 'user', parts: [{ kind: 'text', text: 'Hi' }] }],
  tools: [],
  sampling: {},
  vendorFields: [],
  ...said,
});

/** Writes neutral events as a client's stream. */
export function writeStream(events: readonly InferenceEvent[], writing: ReplyWriting): string {
  const encoder = codec.createEventEncoder(writing, 'sse');
  return events.map((event) => encoder.write(event)).join('');
}

/** Reads a stream in pieces of so many bytes. */
export function readStream(body: Buffer, pieceBytes = body.length): readonly InferenceEvent[] {
  const reader = createSseFrameReader({ frameBytesMax: 10_000_000 });
  const decoder = codec.createEventDecoder(createReading(), 'sse');
  const events: InferenceEvent[] = [];
  for (let at = 0; at < body.length; at += pieceBytes) {
    for (const frame of reader.push(body.subarray(at, at + pieceBytes))) events.push(...decoder.read(frame));
  }
  return [...events, ...decoder.end()];
}

/** Adds events up to the reply that they say. */
export function fold(events: readonly InferenceEvent[]): InferenceReply {
  const folder = createEventFolder();
  for (const event of events) folder.push(event);
  return folder.reply();
}

/** Events of the vendor's stream as bytes. */
export const streamOf = (events: readonly JsonObject[]): Buffer =>
  Buffer.from(events.map((event) => `event: ${textOf(event.type) ?? ''}\ndata: ${JSON.stringify(event)}\n\n`).join(''));

const fixtures = join(import.meta.dirname, '../fixtures');
export const readFixture = (name: string): Buffer => readFileSync(join(fixtures, name));
export const readJsonFixture = (name: string): JsonObject => JSON.parse(readFixture(name).toString()) as JsonObject;

/** Reads what went out of a request: the request must be one that the vendor takes. */
export function encodeValid(said: Partial<InferenceRequest> = {}, differing: Partial<ModelTraits> = {}): Encoded {
  const fit = createFit(differing);
  const encoded = codec.encodeRequest(requestOf(said), fit);
  validateRequest({ operation: 'generate', body: encoded.body, headers: {} }, 'compatible');
  return { ...encoded, notes: fit.notes.list().map(({ kind, field }) => `${kind} ${field}`) };
}

export type Encoded = EncodedRequest & { readonly notes: readonly string[] };

/** Reads a request that the vendor takes. */
export function decodeValid(fields: JsonObject): InferenceRequest {
  const request = { operation: 'generate' as const, body: { model: 'm', input: 'Hi', ...fields }, headers: {} };
  validateRequest(request, 'compatible');
  return codec.decodeRequest(request);
}

/** The same without paths, which are tested by themselves. */
export const withoutPaths = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (key, member: unknown) => (key === 'path' ? undefined : member)));

/** The refusal that an action ends with. */
export function refusalOf(action: () => unknown): GatewayError {
  try {
    action();
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'untranslatable_field') return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

/** Wire forms of replies. */
export const responseOf = (output: readonly JsonObject[], more: JsonObject = {}): JsonObject => ({
  id: 'resp_1',
  object: 'response',
  model: 'm',
  status: 'completed',
  output,
  ...more,
});

export const messageItem = (...content: JsonObject[]): JsonObject => ({
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  status: 'completed',
  content,
});
export const outputText = (text: string, annotations: readonly JsonObject[] = []): JsonObject => ({
  type: 'output_text',
  text,
  annotations,
});
export const callItem = (id: string, args: string): JsonObject => ({
  type: 'function_call',
  id: `fc_${id}`,
  call_id: `call_${id}`,
  name: 'f',
  arguments: args,
});
