import type { InferenceRequest } from '../../../inference/inference-request.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import type { RequestFit } from '../../chat-codec.ts';

/** With thinking on, the vendor accepts only this or a higher top-p. */
const thinkingTopPMin = 0.95;

/**
 * Writes the sampling fields, and notes values that the vendor does not accept: all except defaults if sampling is
 * fixed, most if thinking is on.
 */
export function encodeSampling(request: InferenceRequest, fit: RequestFit, thinks: boolean): JsonObject {
  noteUnknown(request, fit);
  const temperature = fitTemperature(request, fit, thinks);
  const topP = fitTopP(request, fit, thinks, temperature !== undefined);
  const topK = fitTopK(request, fit, thinks);
  return {
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { top_p: topP }),
    ...(topK === undefined ? {} : { top_k: topK }),
  };
}

function noteUnknown({ sampling }: InferenceRequest, { notes }: RequestFit): void {
  const { seed, presencePenalty = 0, frequencyPenalty = 0 } = sampling;
  if (seed !== undefined) notes.dropped('seed', 'the vendor of this model does not support a seed');
  if (presencePenalty !== 0) notes.dropped('presencePenalty', 'the vendor of this model does not support penalties');
  if (frequencyPenalty !== 0) notes.dropped('frequencyPenalty', 'the vendor of this model does not support penalties');
}

const fixedReason = 'the sampling of this model cannot be set';
const thinkingReason = 'it cannot be set while the model thinks';

function fitTemperature({ sampling }: InferenceRequest, { traits, notes }: RequestFit, thinks: boolean): number | undefined {
  const { temperature, topP } = sampling;
  // 1 is the vendor's default, and must not be sent together with an effective top-p.
  const isDefault =
    temperature === undefined || (temperature === 1 && (thinks || traits.fixedSampling || (topP !== undefined && topP < 1)));
  if (isDefault) return undefined;
  if (traits.fixedSampling || thinks) {
    notes.dropped('temperature', traits.fixedSampling ? fixedReason : thinkingReason);
    return undefined;
  }
  if (temperature > 1) notes.adapted('temperature', "the vendor's maximum is 1");
  return Math.min(1, temperature);
}

function fitTopP(
  { sampling }: InferenceRequest,
  { traits, notes }: RequestFit,
  thinks: boolean,
  hasTemperature: boolean,
): number | undefined {
  const { topP } = sampling;
  // 1 has no effect.
  if (topP === undefined || topP >= 1) return undefined;
  if (traits.fixedSampling) notes.dropped('topP', fixedReason);
  else if (thinks && topP < thinkingTopPMin) notes.dropped('topP', thinkingReason);
  // Models since 2025 refuse both together.
  else if (hasTemperature) notes.dropped('topP', 'the vendor accepts temperature or top-p, not both; the temperature was sent');
  else return topP;
  return undefined;
}

function fitTopK({ sampling: { topK } }: InferenceRequest, { traits, notes }: RequestFit, thinks: boolean): number | undefined {
  // 0 means no limit in other dialects.
  if (topK === undefined || topK <= 0) return undefined;
  if (!traits.fixedSampling && !thinks) return topK;
  notes.dropped('topK', traits.fixedSampling ? fixedReason : thinkingReason);
  return undefined;
}
