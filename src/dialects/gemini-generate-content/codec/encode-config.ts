import { describeSchema } from '../../../inference/describe-schema.ts';
import type { InferenceRequest, MediaPart, Part, ReasoningEffort, Sampling } from '../../../inference/inference-request.ts';
import { fitLogprobs, rewrittenReply } from '../../../inference/token-logprobs.ts';
import { fitReasoning } from '../../../inference/reasoning-scale.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import type { RequestFit } from '../../chat-codec.ts';
import { encodeResolution } from './encode-media.ts';
import { encodeSchema } from './encode-schema.ts';

const stopSequencesMax = 5;

/** Seeds have 32 bits here. */
const seedMax = 2_147_483_647;

export type EncodedConfig = { readonly config: JsonObject; readonly cutAt?: readonly string[] };

/** Writes `generationConfig`, and returns the stop sequences that do not fit into it. */
export function encodeConfig(request: InferenceRequest, fit: RequestFit, hasAnswerTool: boolean): EncodedConfig {
  const stops = (request.stopSequences ?? []).filter((sequence) => sequence !== '');
  const sent = stops.slice(0, stopSequencesMax);
  const cutAt = stops.slice(stopSequencesMax);
  if (cutAt.length > 0)
    fit.notes.emulated('stopSequences', `this vendor accepts ${stopSequencesMax} sequences; the gateway cuts at the others`);
  const mediaResolution = encodeResolution(listImages(request), fit);
  const thinkingConfig = encodeThinking(request, fit);
  return {
    config: {
      ...encodeSampling(request.sampling, fit),
      ...encodeLogprobs(request, fit, hasAnswerTool || cutAt.length > 0),
      ...(request.outputTokensMax === undefined ? {} : { maxOutputTokens: request.outputTokensMax }),
      ...(sent.length === 0 ? {} : { stopSequences: sent }),
      ...(hasAnswerTool ? {} : encodeOutputFormat(request, fit)),
      ...(Object.keys(thinkingConfig).length === 0 ? {} : { thinkingConfig }),
      ...(mediaResolution === undefined ? {} : { mediaResolution }),
    },
    ...(cutAt.length === 0 ? {} : { cutAt }),
  };
}

function encodeLogprobs(request: InferenceRequest, { notes }: RequestFit, isRewritten: boolean): JsonObject {
  const logprobs = fitLogprobs(request, notes, isRewritten ? rewrittenReply : undefined);
  if (logprobs === undefined) return {};
  return { responseLogprobs: true, ...(logprobs.alternatives === undefined ? {} : { logprobs: logprobs.alternatives }) };
}

function listImages({ turns }: InferenceRequest): readonly MediaPart[] {
  const inner = (part: Part): readonly Part[] => (part.kind === 'tool-result' ? part.content : [part]);
  return turns
    .flatMap((turn) => turn.parts.flatMap(inner))
    .filter((part): part is MediaPart => part.kind === 'media' && part.media === 'image');
}

function encodeSampling(sampling: Sampling, { traits, notes }: RequestFit): JsonObject {
  const settings = Object.entries(sampling).filter(([, value]) => value !== undefined);
  if (traits.fixedSampling) {
    for (const [name] of settings) notes.dropped(name as keyof Sampling, 'this model refuses sampling settings');
    return {};
  }
  const { seed, topK, ...rest } = sampling;
  const narrow = seed === undefined ? undefined : Math.trunc(seed) % (seedMax + 1);
  if (narrow !== seed) notes.adapted('seed', 'seeds have 32 bits here, so the seed was reduced to one');
  return {
    ...rest,
    // Zero means off in other dialects and is refused here.
    ...(topK === undefined || topK < 1 ? {} : { topK }),
    ...(narrow === undefined ? {} : { seed: narrow }),
  };
}

function encodeOutputFormat({ outputFormat }: InferenceRequest, { traits, notes }: RequestFit): JsonObject {
  if (outputFormat === undefined) return {};
  const responseMimeType = 'application/json';
  if (outputFormat.kind === 'json') return { responseMimeType };
  const described = describeSchema(outputFormat);
  if (traits.jsonSchemaTools) return { responseMimeType, responseJsonSchema: described };
  const { schema, lost } = encodeSchema(described);
  if (lost.length > 0) notes.adapted('outputFormat', `the schema was simplified; this model does not support ${lost.join(', ')}`);
  return { responseMimeType, responseSchema: schema };
}

const levels: Readonly<Record<ReasoningEffort, string>> = {
  none: 'MINIMAL',
  minimal: 'MINIMAL',
  low: 'LOW',
  medium: 'MEDIUM',
  high: 'HIGH',
  xhigh: 'HIGH',
  max: 'HIGH',
};

const efforts: readonly ReasoningEffort[] = ['minimal', 'low', 'medium', 'high'];

/** Budgets that every model with a budget accepts. Source: the vendor's guide to thinking, by model. */
const budgetMin = 512;
const budgetMax = 24_576;

function fitBudget(tokens: number, { notes }: RequestFit): number {
  const fitted = Math.min(Math.max(tokens, budgetMin), budgetMax);
  if (fitted !== tokens) notes.adapted('reasoning', `not every model accepts a budget of ${tokens} tokens; ${fitted} is sent`);
  return fitted;
}

/** Writes a level or a budget. The vendor refuses both together. */
function encodeThinking({ reasoning }: InferenceRequest, fit: RequestFit): JsonObject {
  const fitted = fitReasoning(reasoning, { ...fit.traits, efforts: fit.traits.efforts ?? efforts }, fit.notes);
  const isShown = reasoning?.visible === true && fitted.kind !== 'off' && fit.traits.reasoning !== 'none';
  const shown: JsonObject = isShown ? { includeThoughts: true } : {};
  switch (fitted.kind) {
    case 'effort':
      return { thinkingLevel: levels[fitted.effort], ...shown };
    case 'budget':
      return { thinkingBudget: fitBudget(fitted.tokens, fit), ...shown };
    case 'off':
      return fit.traits.reasoning === 'effort' ? { thinkingLevel: levels.none } : { thinkingBudget: 0 };
    case 'default':
      // A client that leaves it to the model may mean a model that would not think by default.
      return reasoning?.mode === 'auto' && fit.traits.reasoning === 'budget' ? { thinkingBudget: -1, ...shown } : shown;
  }
}
