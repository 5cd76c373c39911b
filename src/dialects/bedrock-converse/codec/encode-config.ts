import type { InferenceRequest, ReasoningEffort } from '../../../inference/inference-request.ts';
import { fitReasoning, type FittedReasoning } from '../../../inference/reasoning-scale.ts';
import type { JsonObject, JsonValue } from '../../../platform/json/json-value.ts';
import type { RequestFit } from '../../chat-codec.ts';
import { traitsOf } from './traits.ts';

/** The settings of a request, and the stop sequences that the gateway has to watch for. */
export type EncodedConfig = { readonly members: JsonObject; readonly cutAt: readonly string[] };

/** Writes `inferenceConfig`, `additionalModelRequestFields` and `serviceTier`. */
export function encodeConfig(request: InferenceRequest, fit: RequestFit): EncodedConfig {
  const reasoning = fitThinking(request, fit);
  const stop = splitStopSequences(request, fit);
  const config: JsonObject = {
    ...encodeOutputLimit(request, fit),
    ...encodeSampling(request, fit),
    ...(stop.sent.length === 0 ? {} : { stopSequences: stop.sent }),
  };
  const additional = mergeFields(encodeTopK(request, fit), encodeReasoning(reasoning));
  return {
    members: {
      ...(Object.keys(config).length === 0 ? {} : { inferenceConfig: config }),
      ...(Object.keys(additional).length === 0 ? {} : { additionalModelRequestFields: additional }),
      ...encodeServiceTier(request),
    },
    cutAt: stop.cutAt,
  };
}

function encodeOutputLimit({ outputTokensMax }: InferenceRequest, { traits, notes }: RequestFit): JsonObject {
  if (outputTokensMax === undefined) return {};
  const most = traits.outputTokensMax;
  if (most === undefined || outputTokensMax <= most) return { maxTokens: outputTokensMax };
  notes.adapted('outputTokensMax', `this model writes at most ${most} tokens`);
  return { maxTokens: most };
}

function encodeSampling({ sampling }: InferenceRequest, { notes }: RequestFit): JsonObject {
  const { temperature, topP, seed, presencePenalty = 0, frequencyPenalty = 0 } = sampling;
  if (seed !== undefined) notes.dropped('seed', 'the interface of this model does not have it');
  if (presencePenalty !== 0) notes.dropped('presencePenalty', 'the interface of this model does not have it');
  if (frequencyPenalty !== 0) notes.dropped('frequencyPenalty', 'the interface of this model does not have it');
  if (temperature !== undefined && temperature > 1) notes.adapted('temperature', 'the maximum here is 1');
  return {
    ...(temperature === undefined ? {} : { temperature: Math.min(1, temperature) }),
    ...(topP === undefined ? {} : { topP: Math.min(1, topP) }),
  };
}

function splitStopSequences(
  { stopSequences = [] }: InferenceRequest,
  { traits, notes }: RequestFit,
): { readonly sent: readonly string[]; readonly cutAt: readonly string[] } {
  const sequences = stopSequences.filter((sequence) => sequence !== '');
  const { stopSequencesMax } = traitsOf(traits);
  const sent = sequences.slice(0, stopSequencesMax);
  const cutAt = sequences.slice(stopSequencesMax);
  if (cutAt.length > 0)
    notes.emulated('stopSequences', 'the gateway cuts the reply at the stop sequences that the upstream does not accept');
  return { sent, cutAt };
}

function encodeTopK({ sampling: { topK } }: InferenceRequest, { traits, notes }: RequestFit): JsonObject {
  if (topK === undefined) return {};
  const { topKField } = traitsOf(traits);
  if (topKField === undefined) {
    notes.dropped('topK', 'this model does not have it');
    return {};
  }
  return membersOfPath(topKField, topK);
}

function membersOfPath([name = '', ...inner]: readonly string[], value: JsonValue): JsonObject {
  return { [name]: inner.length === 0 ? value : membersOfPath(inner, value) };
}

const mergeFields = (first: JsonObject, second: JsonObject): JsonObject => ({ ...first, ...second });

/** Efforts with which the model accepts no limit of its output, no temperature and no top-p. */
const limitless: ReadonlySet<ReasoningEffort> = new Set(['high']);

/**
 * The thinking of a model. At the highest effort it accepts no limit, so a request with one gets the effort below it.
 * Source: "extended thinking" of the Nova 2 user guide.
 */
function fitThinking(request: InferenceRequest, fit: RequestFit): FittedReasoning {
  const fitted = fitReasoning(request.reasoning, fit.traits, fit.notes);
  const { temperature, topP } = request.sampling;
  const hasLimits = request.outputTokensMax !== undefined || temperature !== undefined || topP !== undefined;
  if (fitted.kind !== 'effort' || !limitless.has(fitted.effort) || !hasLimits) return fitted;
  fit.notes.adapted('reasoning', 'with the effort high the model accepts no limit of its output and no sampling, so medium is sent');
  return { kind: 'effort', effort: 'medium' };
}

/** Source: "extended thinking" of the Nova 2 user guide. Thinking is off unless a request enables it. */
function encodeReasoning(fitted: FittedReasoning): JsonObject {
  return fitted.kind === 'effort' ? { reasoningConfig: { type: 'enabled', maxReasoningEffort: fitted.effort } } : {};
}

/** The default tier needs no member, which few models know. */
function encodeServiceTier({ serviceTier }: InferenceRequest): JsonObject {
  return serviceTier === 'flex' || serviceTier === 'priority' ? { serviceTier: { type: serviceTier } } : {};
}
