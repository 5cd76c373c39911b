import type { TraitDifferences } from '../../../../inference/testing/fake-traits.ts';
import type { InferenceEvent } from '../../../../inference/inference-event.ts';
import type { InferenceRequest } from '../../../../inference/inference-request.ts';
import type { StreamFraming } from '../../../../platform/frames.ts';
import type { JsonObject } from '../../../../platform/json/json-value.ts';
import {
  createFakeRequest,
  createFakeTranslation,
  decodeFrames,
  encodeEvents,
  listNotes,
  readFrames,
  type NotedRequest,
} from '../../../testing/fake-translation.ts';
import { validateRequest } from '../../validate-request.ts';
import { decodeRequest } from '../decode-request.ts';
import { encodeRequest } from '../encode-request.ts';
import { createEventDecoder } from '../event-decoder.ts';
import { createEventEncoder } from '../event-encoder.ts';
import { fieldNames } from '../field-names.ts';

export const { createFit, createReading, createWriting } = createFakeTranslation({
  fieldNames,
  upstreamModel: 'gemini-x',
  proofOrigin: 'gemini',
  idSeparator: '_',
  writing: { createdAtMs: 0 },
});

/** A client that requested thoughts. */
export const thoughtfulRequest: JsonObject = { generationConfig: { thinkingConfig: { includeThoughts: true } } };

/** Decodes a request that this dialect accepts, with default contents. */
export function decode(members: JsonObject): InferenceRequest {
  const request = {
    operation: 'generate' as const,
    body: { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }], ...members },
    headers: {},
    pathModel: 'models/m',
  };
  validateRequest(request, 'compatible');
  return decodeRequest(request);
}

/** Encodes a request. */
export function encode(members: Partial<InferenceRequest>, differences: TraitDifferences = {}): NotedRequest {
  const fit = createFit(differences);
  return { ...encodeRequest(createFakeRequest(members), fit), notes: listNotes(fit) };
}

/** Decodes a stream that arrives in chunks of this size. */
export const decodeStream = (body: Buffer, framing: StreamFraming, chunkBytes?: number): readonly InferenceEvent[] =>
  decodeFrames(createEventDecoder(createReading(), framing), readFrames(body, framing, chunkBytes));

export const encodeStream = (events: readonly InferenceEvent[], framing: StreamFraming, request: JsonObject = {}): string =>
  encodeEvents(createEventEncoder(createWriting(request), framing), events);

/** The chunks of a written event stream. */
export const chunksOf = (stream: string): readonly JsonObject[] =>
  stream
    .split('\r\n\r\n')
    .filter((frame) => frame !== '')
    .map((frame) => JSON.parse(frame.replace(/^data: /, '')) as JsonObject);
