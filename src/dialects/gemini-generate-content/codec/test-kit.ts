import type { InferenceEvent } from '../../../inference/inference-event.ts';
import type { InferenceRequest } from '../../../inference/inference-request.ts';
import type { ModelTraits } from '../../../inference/model-traits.ts';
import { createTranslationNotes } from '../../../inference/translation-notes.ts';
import type { StreamFraming } from '../../../platform/frames.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { createJsonArrayFrameReader } from '../../../platform/sse/json-array-frame-reader.ts';
import { createSseFrameReader } from '../../../platform/sse/sse-frame-reader.ts';
import type { ReplyReading, ReplyWriting, RequestFit } from '../../chat-codec.ts';
import { decodeRequest } from './decode-request.ts';
import { encodeRequest } from './encode-request.ts';
import { createEventDecoder } from './event-decoder.ts';
import { createEventEncoder } from './event-encoder.ts';
import { fieldNames } from './field-names.ts';

/** A model of the vendor that can do everything. */
const traits: ModelTraits = {
  reasoning: 'effort',
  alwaysReasons: false,
  fixedSampling: false,
  structuredOutput: true,
  jsonSchemaTools: true,
  fetchesUrls: true,
  imagesInToolResults: true,
  prefill: true,
  webSearch: true,
  codeExecution: true,
  mixesTools: true,
  requiresProofs: false,
  chat: {
    outputLimitField: 'max_tokens',
    systemRole: 'system',
    streamOptions: true,
    parallelToolCallsField: true,
    forcedToolChoice: true,
    reasoningField: 'reasoning_effort',
    acceptsTopK: false,
  },
};

/** Fits for a model that differs from it in these traits. */
export function createFit(differences: Partial<ModelTraits> = {}, strict = false): RequestFit {
  return {
    upstreamModel: 'gemini-x',
    traits: { ...traits, ...differences },
    proofOrigin: 'gemini',
    notes: createTranslationNotes(fieldNames, strict),
  };
}

export function createReading(): ReplyReading {
  let ids = 0;
  return { proofOrigin: 'gemini', newId: (prefix) => `${prefix}${++ids}`, notes: createTranslationNotes(fieldNames, false) };
}

export function createWriting(request: JsonObject = {}): ReplyWriting {
  return {
    requestId: 'req_1',
    requestedModel: 'asked',
    request,
    createdAtMs: 0,
    inputTokensEstimate: 7,
    newId: (prefix) => `${prefix}1`,
    notes: createTranslationNotes(fieldNames, false),
  };
}

/** A client that asked to see thoughts. */
export const thoughtfulRequest: JsonObject = { generationConfig: { thinkingConfig: { includeThoughts: true } } };

export const decodeBody = (body: JsonObject): InferenceRequest =>
  decodeRequest({ operation: 'generate', body, headers: {}, pathModel: 'models/m' });

/** A request with only what matters to a test. */
export const createRequest = (members: Partial<InferenceRequest>): InferenceRequest => ({
  model: 'm',
  stream: false,
  instructions: [],
  turns: [{ role: 'user', parts: [{ kind: 'text', text: 'Hi' }] }],
  tools: [],
  sampling: {},
  vendorFields: [],
  ...members,
});

export type Encoded = { readonly body: JsonObject; readonly notes: readonly string[]; readonly whole: ReturnType<typeof encodeRequest> };

/** Encodes and tells the notes as `kind field`. */
export function encode(members: Partial<InferenceRequest>, differences: Partial<ModelTraits> = {}): Encoded {
  const fit = createFit(differences);
  const whole = encodeRequest(createRequest(members), fit);
  return { body: whole.body, whole, notes: fit.notes.list().map(({ kind, field }) => `${kind} ${field}`) };
}

/** What a decoder makes of a body that comes in chunks of so many bytes. */
export function readStream(body: Buffer, framing: StreamFraming, chunkBytes = body.length): readonly InferenceEvent[] {
  const reader = (framing === 'sse' ? createSseFrameReader : createJsonArrayFrameReader)({ frameBytesMax: 1_000_000 });
  const decoder = createEventDecoder(createReading(), framing);
  const events: InferenceEvent[] = [];
  for (let at = 0; at < body.length; at += Math.max(1, chunkBytes)) {
    for (const frame of reader.push(body.subarray(at, at + chunkBytes))) events.push(...decoder.read(frame));
  }
  return [...events, ...decoder.end()];
}

export function writeStream(events: readonly InferenceEvent[], framing: StreamFraming, request: JsonObject = {}): string {
  const encoder = createEventEncoder(createWriting(request), framing);
  return events.map((event) => encoder.write(event)).join('');
}

/** The chunks of a written event stream. */
export const chunksOf = (stream: string): readonly JsonObject[] =>
  stream
    .split('\r\n\r\n')
    .filter((frame) => frame !== '')
    .map((frame) => JSON.parse(frame.replace(/^data: /, '')) as JsonObject);
