import type { ErrorCode, GatewayError } from '../../inference/gateway-error.ts';
import type { HttpReply } from '../error-voice.ts';
import { encodeErrorReply } from '../encode-error-reply.ts';
import { commonVendorCodes, type OpenaiErrorBody, wordErrorKind } from '../openai-error-words.ts';

const detail = (error: GatewayError, name: string): string | undefined => {
  const value = error.details?.[name];
  return typeof value === 'string' ? value : undefined;
};

const vendorCodes: Partial<Record<ErrorCode, string | null>> = {
  ...commonVendorCodes,
  reply_not_found: 'previous_response_not_found',
  object_not_found: null,
  untranslatable_field: 'unsupported_parameter',
  upstream_model_not_found: 'model_not_found',
  upstream_refused_request: null,
  conflicting_credentials: 'invalid_api_key',
  expired_api_key: 'invalid_api_key',
  missing_api_key: null,
};

function wordCode(error: GatewayError, status: number): string | null {
  const code = vendorCodes[error.code];
  if (code !== undefined) return code;
  return status === 429 ? 'rate_limit_exceeded' : error.code;
}

const modelNotFoundStatus = 400;

/**
 * The vendor answers an unknown model with 400 here, unlike in its other interfaces. Agents read 404 as an address that
 * may return, and retry.
 */
function chooseStatus(error: GatewayError): number {
  const isModel = error.code === 'model_not_found' || error.code === 'upstream_model_not_found';
  return isModel && error.status === 404 ? modelNotFoundStatus : error.status;
}

/** The field that an error is about if the error does not name it. */
const paramByCode: Partial<Record<ErrorCode, string>> = {
  model_not_found: 'model',
  upstream_model_not_found: 'model',
  context_length_exceeded: 'input',
};

/**
 * The vendor's message for an input that is too long, after which agents shorten it. The numbers follow if they are
 * known.
 */
function wordOverflow(error: GatewayError): string {
  const { tokens, tokensMax } = error.details ?? {};
  const sizes =
    typeof tokens === 'number' && typeof tokensMax === 'number'
      ? ` It has ${tokens} tokens, and the model accepts at most ${tokensMax}.`
      : '';
  return `Your input exceeds the context window of this model. Please adjust your input and try again.${sizes}`;
}

function wordMessage(error: GatewayError): string {
  if (error.code === 'context_length_exceeded') return wordOverflow(error);
  const model = error.code === 'model_not_found' ? detail(error, 'model') : undefined;
  return model === undefined ? error.message : `The requested model '${model}' does not exist.`;
}

/**
 * The vendor's error object for one of ours. `details.openai_code` and `details.openai_type` override the code and
 * type. `details.model` names the model that was not found.
 */
export function createErrorBody(error: GatewayError): OpenaiErrorBody {
  const status = chooseStatus(error);
  return {
    message: wordMessage(error),
    type: detail(error, 'openai_type') ?? wordErrorKind(error, status),
    param: error.param ?? paramByCode[error.code] ?? null,
    code: detail(error, 'openai_code') ?? wordCode(error, status),
  };
}

/** An error as an HTTP answer: `{"error":{"message","type","param","code"}}`. */
export function encodeError(error: GatewayError, requestId: string): HttpReply {
  return { ...encodeErrorReply(error, requestId, JSON.stringify({ error: createErrorBody(error) })), status: chooseStatus(error) };
}
