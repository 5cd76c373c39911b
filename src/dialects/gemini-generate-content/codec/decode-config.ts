import { GatewayError } from '../../../inference/gateway-error.ts';
import type {
  InferenceRequest,
  OutputFormat,
  ReasoningEffort,
  ReasoningRequest,
  Sampling,
  TokenLogprobsRequest,
  VendorField,
} from '../../../inference/inference-request.ts';
import { meaningOf, membersOf, numberOf, objectOf, textsOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { isSaid, listUnread } from '../../list-unread.ts';
import { encodeBareEnum, enumMimeType } from './bare-enum.ts';
import { decodeJsonSchema } from './decode-json-schema.ts';
import { decodeSchema } from './decode-schema.ts';

type DecodedConfig = Pick<
  InferenceRequest,
  'sampling' | 'outputTokensMax' | 'stopSequences' | 'outputFormat' | 'reasoning' | 'tokenLogprobs'
> & {
  readonly vendorFields: readonly VendorField[];
};

/** Members that have a neutral name, or are read elsewhere. */
const named: ReadonlySet<string> = new Set([
  'stopSequences',
  'responseMimeType',
  'responseSchema',
  'responseJsonSchema',
  '_responseJsonSchema',
  'responseFormat',
  'responseModalities',
  'candidateCount',
  'maxOutputTokens',
  'temperature',
  'topP',
  'topK',
  'seed',
  'presencePenalty',
  'frequencyPenalty',
  'thinkingConfig',
  // The images carry it (see decode-request).
  'mediaResolution',
]);

/** Members without meaning for a text answer. */
const hints: ReadonlySet<string> = new Set(['imageConfig']);

const refuse = (field: string, problem: string): GatewayError =>
  new GatewayError('untranslatable_field', `${field}: ${problem}`, { param: field });

/**
 * Reads `generationConfig` of the canonical form.
 *
 * @throws GatewayError untranslatable_field for several candidates and for answers that are not text; invalid_value for
 * a bare enum without values
 */
export function decodeConfig(config: JsonObject): DecodedConfig {
  refuseUntranslatable(config);
  const outputTokensMax = numberOf(config.maxOutputTokens);
  const outputFormat = decodeOutputFormat(config);
  const reasoning = decodeThinking(objectOf(config.thinkingConfig));
  const tokenLogprobs = decodeLogprobs(config);
  const stopSequences = textsOf(config.stopSequences);
  return {
    sampling: decodeSampling(config),
    ...(outputTokensMax === undefined ? {} : { outputTokensMax }),
    ...(stopSequences.length === 0 ? {} : { stopSequences }),
    ...(outputFormat === undefined ? {} : { outputFormat }),
    ...(reasoning === undefined ? {} : { reasoning }),
    ...(tokenLogprobs === undefined ? {} : { tokenLogprobs }),
    vendorFields: listVendorFields(config),
  };
}

function refuseUntranslatable(config: JsonObject): void {
  if ((numberOf(config.candidateCount) ?? 1) > 1) {
    throw refuse('generationConfig.candidateCount', 'this model returns only one answer per request. Send 1, or send several requests.');
  }
  const other = textsOf(config.responseModalities).find((modality) => modality !== 'TEXT' && modality !== 'MODALITY_UNSPECIFIED');
  if (other !== undefined) {
    throw refuse(
      'generationConfig.responseModalities',
      `this model cannot answer with ${other}. Send ["TEXT"], or choose a model that can.`,
    );
  }
}

/**
 * Reads the request for probabilities of tokens. A bare enum has none, because they would belong to the object that
 * other vendors write.
 */
function decodeLogprobs(config: JsonObject): TokenLogprobsRequest | undefined {
  if (config.responseLogprobs !== true || config.responseMimeType === enumMimeType) return undefined;
  const alternatives = numberOf(config.logprobs);
  return {
    ...(alternatives === undefined ? {} : { alternatives }),
    fields: ['generationConfig.responseLogprobs', 'generationConfig.logprobs'],
  };
}

function decodeSampling(config: JsonObject): Sampling {
  const temperature = numberOf(config.temperature);
  const topP = numberOf(config.topP);
  const topK = numberOf(config.topK);
  const seed = numberOf(config.seed);
  const presencePenalty = numberOf(config.presencePenalty);
  const frequencyPenalty = numberOf(config.frequencyPenalty);
  return {
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { topP }),
    ...(topK === undefined ? {} : { topK }),
    ...(seed === undefined ? {} : { seed }),
    ...(presencePenalty === undefined ? {} : { presencePenalty }),
    ...(frequencyPenalty === undefined ? {} : { frequencyPenalty }),
  };
}

/** Reads the schema from any of its four fields; the mime type alone requests any JSON. */
function decodeOutputFormat(config: JsonObject): OutputFormat | undefined {
  const format = objectOf(objectOf(config.responseFormat)?.text);
  const subset = objectOf(config.responseSchema);
  const jsonSchema = objectOf(config.responseJsonSchema) ?? objectOf(config._responseJsonSchema);
  const schema =
    (jsonSchema === undefined ? undefined : decodeJsonSchema(jsonSchema)) ??
    (subset === undefined ? undefined : decodeSchema(subset)) ??
    objectOf(format?.schema);
  if (config.responseMimeType === enumMimeType) return encodeBareEnum(schema);
  if (schema !== undefined) return { kind: 'json-schema', schema };
  return config.responseMimeType === 'application/json' || format?.mimeType === 'APPLICATION_JSON' ? { kind: 'json' } : undefined;
}

const efforts: Readonly<Record<string, ReasoningEffort>> = { MINIMAL: 'minimal', LOW: 'low', MEDIUM: 'medium', HIGH: 'high' };

/**
 * Reads the thinking settings. Replies of this dialect always contain signatures, so proofs are requested whenever
 * there is thinking.
 */
function decodeThinking(config: JsonObject | undefined): ReasoningRequest | undefined {
  if (config === undefined) return undefined;
  const visible = typeof config.includeThoughts === 'boolean' ? { visible: config.includeThoughts } : {};
  const budgetTokens = numberOf(config.thinkingBudget);
  const effort = meaningOf(config.thinkingLevel, efforts);
  if (budgetTokens === 0) return { mode: 'off', ...visible };
  if (budgetTokens !== undefined && budgetTokens > 0) return { mode: 'on', budgetTokens, ...visible, wantsProofs: true };
  if (effort !== undefined) return { mode: 'on', effort, ...visible, wantsProofs: true };
  // -1, or only a request to show thoughts: the model decides how much.
  return { mode: 'auto', ...visible, wantsProofs: true };
}

const answerTypes = new Set<unknown>(['APPLICATION_JSON', 'TEXT_PLAIN', 'MIME_TYPE_UNSPECIFIED']);

function listVendorFields(config: JsonObject): readonly VendorField[] {
  const { responseFormat, thinkingConfig } = config;
  const { mimeType } = membersOf(membersOf(responseFormat).text);
  return [
    ...listUnread(config, 'generationConfig', named, hints),
    ...listUnread(responseFormat, 'generationConfig.responseFormat', new Set(['text'])),
    ...listUnread(membersOf(responseFormat).text, 'generationConfig.responseFormat.text', new Set(['mimeType', 'schema'])),
    ...(isSaid(mimeType) && !answerTypes.has(mimeType)
      ? [{ field: 'generationConfig.responseFormat.text.mimeType', value: mimeType, weight: 'matters' as const }]
      : []),
    ...listUnread(thinkingConfig, 'generationConfig.thinkingConfig', new Set(['includeThoughts', 'thinkingBudget', 'thinkingLevel'])),
  ];
}
