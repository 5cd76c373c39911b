import type { GatewayError } from '../../inference/gateway-error.ts';
import { invalidField } from './audio-errors.ts';
import type { TranscriptionModel } from './audio-models.ts';
import type { TranscriptFormat } from './audio-formats.ts';
import type { Granularity, TranscriptionFacts } from './transcription-form.ts';

/** The format in the request to the upstream. If it differs from the client's, the client's is written from it. */
export type TranscriptPlan = {
  readonly askedFormat: TranscriptFormat;
  readonly granularities: readonly Granularity[] | undefined;
};

/**
 * Chooses the format of the request to a model: the client's if the model supports it, otherwise one that can be
 * converted to it.
 * @throws GatewayError (400) if this model cannot provide the client's format
 */
export function planTranscript(facts: TranscriptionFacts, model: TranscriptionModel): TranscriptPlan {
  const conflict = findConflict(facts, model);
  if (conflict !== undefined) throw conflict;
  const { format } = facts;
  const asIs = { askedFormat: format, granularities: facts.granularities };
  if (model.formats.includes(format)) return asIs;
  if (format === 'text' && model.formats.includes('json')) return { askedFormat: 'json', granularities: undefined };
  if (format !== 'diarized_json' && model.formats.includes('verbose_json'))
    return { askedFormat: 'verbose_json', granularities: format === 'verbose_json' ? facts.granularities : undefined };
  throw incompatible(format, facts.requestedModel, model.formats);
}

function incompatible(format: string, requestedModel: string, formats: readonly string[]): GatewayError {
  const others = formats.map((name) => `'${name}'`).join(' or ');
  return invalidField(
    'response_format',
    `response_format '${format}' is not compatible with model '${requestedModel.slice(0, 256)}'. Use ${others} instead.`,
    'unsupported_value',
  );
}

/** The error for timestamps that the model did not return. This is known only after it has answered. */
export function missingTimes(missing: Granularity, facts: TranscriptionFacts): GatewayError {
  const what = missing === 'word' ? 'timestamps of words' : 'timestamps of segments';
  const param = missing === 'word' ? 'timestamp_granularities' : 'response_format';
  return invalidField(
    param,
    `The model '${facts.requestedModel.slice(0, 256)}' does not return ${what}, and '${facts.format}' requires them. Use 'json' or 'text' instead.`,
    'unsupported_value',
  );
}

/** Fields that the model that distinguishes speakers does not accept. */
function findConflict(facts: TranscriptionFacts, model: TranscriptionModel): GatewayError | undefined {
  if (model.isDiarizing !== true) return undefined;
  const name = facts.requestedModel.slice(0, 256);
  const refuse = (param: string): GatewayError =>
    invalidField(param, `'${param}' is not supported with model '${name}'.`, 'unsupported_parameter');
  if (facts.hasPrompt) return refuse('prompt');
  if (facts.granularities !== undefined) return refuse('timestamp_granularities');
  return facts.includesLogprobs ? refuse('include') : undefined;
}
