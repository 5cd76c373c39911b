import type { ConverseTraits } from '../../../../inference/model-traits.ts';
import type { InferenceRequest } from '../../../../inference/inference-request.ts';
import type { TraitDifferences } from '../../../../inference/testing/fake-traits.ts';
import { createFakeRequest, createFakeTranslation, listNotes, type NotedRequest } from '../../../testing/fake-translation.ts';
import { codec } from '../codec.ts';

/** A model that takes everything, if no test says otherwise. */
const able: ConverseTraits = {
  systemText: true,
  tools: 'streamed',
  forcedTools: ['any', 'tool'],
  resultStatus: true,
  media: ['image', 'file', 'video'],
  cachePoints: ['system', 'messages'],
  stopSequencesMax: 4,
  topKField: ['inferenceConfig', 'topK'],
};

const translation = createFakeTranslation({
  fieldNames: codec.fieldNames,
  upstreamModel: 'amazon.nova-pro-v1:0',
  traits: { outputTokensMax: 10_000, efforts: ['low', 'medium', 'high'], prefill: false },
  proofOrigin: 'bedrock/amazon',
  idSeparator: '_',
});

export const { createReading } = translation;

/** Encodes a request for a model with these differences. */
export function encode(
  members: Partial<InferenceRequest>,
  converse: Partial<ConverseTraits> = {},
  differences: TraitDifferences = {},
): NotedRequest {
  const fit = translation.createFit({ ...differences, converse: { ...able, ...converse } });
  return { ...codec.encodeRequest(createFakeRequest(members), fit), notes: listNotes(fit) };
}
