import { createFakeTraits, type TraitDifferences } from '../../inference/testing/fake-traits.ts';
import type { InferenceEvent } from '../../inference/inference-event.ts';
import type { InferenceRequest } from '../../inference/inference-request.ts';
import { createTranslationNotes, type FieldNames } from '../../inference/translation-notes.ts';
import type { Frame, StreamFraming } from '../../platform/frames.ts';
import type { JsonObject } from '../../platform/json/json-value.ts';
import { createJsonArrayFrameReader } from '../../platform/sse/json-array-frame-reader.ts';
import { createSseFrameReader } from '../../platform/sse/sse-frame-reader.ts';
import type { EncodedRequest, EventDecoder, EventEncoder, ReplyReading, ReplyWriting, RequestFit } from '../chat-codec.ts';

/** Defaults of the tests of a codec. */
type FakeTranslationOptions = {
  /** The names of fields in notes. */
  readonly fieldNames: FieldNames;
  readonly upstreamModel: string;
  readonly traits?: TraitDifferences;
  readonly proofOrigin: string;
  /** The separator between the prefix of a new id and its number. */
  readonly idSeparator?: string;
  readonly writing?: Partial<ReplyWriting>;
};

type FakeTranslation = {
  /** Creates a fit for a model with these differences from the usual model of the tests. */
  readonly createFit: (differences?: TraitDifferences, strict?: boolean) => RequestFit;
  /** Creates a reading whose ids count up, so that two runs give the same result. */
  readonly createReading: () => ReplyReading;
  /** Creates a writing for a client that sent this request. */
  readonly createWriting: (request?: JsonObject) => ReplyWriting;
};

/** Creates the objects that the gateway passes to codecs, for tests. */
export function createFakeTranslation(options: FakeTranslationOptions): FakeTranslation {
  const { fieldNames, upstreamModel, traits = {}, proofOrigin, idSeparator = '', writing } = options;
  const countIds = (): ((prefix: string) => string) => {
    let count = 0;
    return (prefix) => `${prefix}${idSeparator}${++count}`;
  };
  return {
    createFit: (differences = {}, strict = false) => ({
      upstreamModel,
      traits: createFakeTraits(traits, differences),
      proofOrigin,
      notes: createTranslationNotes(fieldNames, strict),
    }),
    createReading: () => ({ proofOrigin, newId: countIds(), notes: createTranslationNotes(fieldNames, false) }),
    createWriting: (request = {}) => ({
      requestId: 'req_1',
      requestedModel: 'asked',
      request,
      createdAtMs: 1_794_000_000_500,
      nowMs: () => 1_794_000_000_500 + 2000,
      inputTokensEstimate: 7,
      newId: countIds(),
      notes: createTranslationNotes(fieldNames, false),
      ...writing,
    }),
  };
}

/** Creates a request that contains only the given members. */
export function createFakeRequest(members: Partial<InferenceRequest> = {}): InferenceRequest {
  return {
    model: 'asked',
    stream: false,
    instructions: [],
    turns: [{ role: 'user', parts: [{ kind: 'text', text: 'Hi' }] }],
    tools: [],
    sampling: {},
    vendorFields: [],
    ...members,
  };
}

/** An encoded request, and its notes as `kind field`. */
export type NotedRequest = EncodedRequest & { readonly notes: readonly string[] };

/** Lists the notes of a fit as `kind field`. */
export const listNotes = ({ notes }: RequestFit): readonly string[] => notes.list().map(({ kind, field }) => `${kind} ${field}`);

/** Reads the frames of a body that arrives in chunks of this size. */
export function readFrames(body: Buffer | string, framing: StreamFraming = 'sse', chunkBytes = Number.MAX_SAFE_INTEGER): readonly Frame[] {
  const bytes = Buffer.from(body);
  const reader = (framing === 'sse' ? createSseFrameReader : createJsonArrayFrameReader)({ frameBytesMax: 10_000_000 });
  const frames: Frame[] = [];
  for (let at = 0; at < bytes.length; at += chunkBytes) frames.push(...reader.push(Buffer.from(bytes.subarray(at, at + chunkBytes))));
  return frames;
}

/** Decodes frames to the end. */
export const decodeFrames = (decoder: EventDecoder, frames: readonly Frame[]): readonly InferenceEvent[] => [
  ...frames.flatMap((frame) => decoder.read(frame)),
  ...decoder.end(),
];

/** Encodes events to the end. */
export const encodeEvents = (encoder: EventEncoder, events: readonly InferenceEvent[]): string =>
  events.map((event) => encoder.write(event)).join('');
