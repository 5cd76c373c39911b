import type { TraitDifferences } from '../../../../inference/testing/fake-traits.ts';
import type { InferenceEvent } from '../../../../inference/inference-event.ts';
import type { InferenceRequest } from '../../../../inference/inference-request.ts';
import { Frame } from '../../../../platform/frames.ts';
import type { JsonObject } from '../../../../platform/json/json-value.ts';
import { createFakeRequest, createFakeTranslation, decodeFrames, listNotes, type NotedRequest } from '../../../testing/fake-translation.ts';
import { encodeRequest } from '../encode-request.ts';
import { createEventDecoder } from '../event-decoder.ts';
import { fieldNames } from '../field-names.ts';

/** The proof origin of the upstream in these tests. */
export const origin = 'local';

/** A server that supports what most servers support. */
export const { createFit, createReading, createWriting } = createFakeTranslation({
  fieldNames,
  upstreamModel: 'm-1',
  traits: { imagesInToolResults: false, prefill: false, codeExecution: false },
  proofOrigin: origin,
  idSeparator: '_new',
  writing: { createdAtMs: 1_790_000_000_500, newId: (prefix) => `${prefix}_new` },
});

/** The body that a request is encoded as. */
export function encode(
  members: Partial<InferenceRequest>,
  differences: TraitDifferences = {},
  strict = false,
): NotedRequest & { readonly messages: readonly JsonObject[] } {
  const fit = createFit(differences, strict);
  const encoded = encodeRequest(createFakeRequest(members), fit);
  return { ...encoded, messages: encoded.body.messages as readonly JsonObject[], notes: listNotes(fit) };
}

export const frameOf = (data: string, event?: string): Frame => new Frame(Buffer.from(data), event, data);

/** The events of a stream of these chunks and `[DONE]`. */
export const decodeChunks = (chunks: readonly unknown[]): readonly InferenceEvent[] =>
  decodeFrames(createEventDecoder(createReading()), [...chunks.map((chunk) => frameOf(JSON.stringify(chunk))), frameOf('[DONE]')]);
