import type { ErrorCode, GatewayError } from '../../inference/gateway-error.ts';
import type { VideoForm } from '../../inference/video.ts';
import type { HttpReply } from '../error-voice.ts';
import { encodeErrorReply } from '../encode-error-reply.ts';
import { wordErrorKind } from '../openai-error-words.ts';
import { fieldOf, type VideoField } from './field-names.ts';

/** The codes of these endpoints that differ from ours (video.md 1.5). */
const codesByCode: Partial<Record<ErrorCode, string>> = {
  invalid_value: 'invalid_request',
  missing_required_field: 'invalid_request',
  unknown_field: 'invalid_request',
  untranslatable_field: 'invalid_request',
  no_suitable_target: 'invalid_request',
  upstream_refused_request: 'invalid_request',
  duplicate_key: 'invalid_json',
  body_too_deep: 'invalid_json',
  body_incomplete: 'invalid_json',
  object_not_found: 'task_not_found',
  upstream_model_not_found: 'model_not_found',
  internal_error: 'server_error',
  upstream_unreachable: 'no_available_channel',
  upstream_connection_error: 'no_available_channel',
  upstream_credentials_rejected: 'no_available_channel',
  upstream_overloaded: 'no_available_channel',
  upstream_quota_exhausted: 'no_available_channel',
};

const codesByField: Partial<Record<VideoField, string>> = {
  duration: 'invalid_duration',
  image: 'invalid_image',
  images: 'invalid_image',
  reference_images: 'invalid_image',
};

/** Finds the field of a path: `images[2].url` belongs to images, `metadata.duration` to the duration. */
function fieldAt(param: string): VideoField | undefined {
  const steps = param.split(/[.[]/);
  return steps.map(fieldOf).find((field) => field !== undefined && field !== 'metadata');
}

function chooseCode({ code, param, status }: GatewayError): string {
  if (status === 401) return 'invalid_api_key';
  if (status === 402 || code === 'spend_limit_reached') return 'insufficient_quota';
  if (status === 429) return 'rate_limit_exceeded';
  const field = param === undefined ? undefined : fieldAt(param);
  if (code === 'missing_required_field' && (field === 'model' || field === 'prompt')) return `missing_${field}`;
  const isWrongField = code === 'invalid_value' || code === 'invalid_media' || code === 'untranslatable_field';
  const fieldCode = isWrongField && field !== undefined ? codesByField[field] : undefined;
  return fieldCode ?? codesByCode[code] ?? code;
}

/**
 * Writes an error of these endpoints: OpenAI's object, with code and message also at the top, where clients of other
 * gateways look for them. Clients of xAI's interface receive xAI's form, in which `error` is a text.
 */
export function encodeVideoError(error: GatewayError, requestId: string, form: VideoForm = 'video-generations'): HttpReply {
  const { message, param } = error;
  const code = chooseCode(error);
  const body =
    form === 'xai-videos'
      ? { code, error: message }
      : { error: { message, type: wordErrorKind(error), param: param ?? null, code }, code, message };
  return encodeErrorReply(error, requestId, JSON.stringify(body));
}
