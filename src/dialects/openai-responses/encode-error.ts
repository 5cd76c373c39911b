import type { ErrorCode, GatewayError } from '../../inference/gateway-error.ts';
import type { HttpReply } from '../chat-dialect.ts';
import { encodeErrorReply } from '../encode-error-reply.ts';
import { commonVendorCodes, type OpenaiErrorBody, wordErrorType } from '../openai-error-words.ts';

const detail = (error: GatewayError, name: string): string | undefined => {
  const value = error.details?.[name];
  return typeof value === 'string' ? value : undefined;
};

const vendorCodes: Partial<Record<ErrorCode, string | null>> = {
  ...commonVendorCodes,
  reply_not_found: 'previous_response_not_found',
  conflicting_credentials: 'invalid_api_key',
  missing_api_key: null,
};

function wordCode(error: GatewayError, status: number): string | null {
  const code = vendorCodes[error.code];
  if (code !== undefined) return code;
  return status === 429 ? 'rate_limit_exceeded' : error.code;
}

const modelNotFoundStatus = 400;

/** The vendor answers an unknown model with 400 here, unlike everywhere else. */
function chooseStatus(error: GatewayError): number {
  return error.code === 'model_not_found' && error.status === 404 ? modelNotFoundStatus : error.status;
}

/**
 * The vendor's error object for one of ours. `details.openai_code` and `details.openai_type` override the words, `details.model` names
 * the model that was not found.
 */
export function createErrorBody(error: GatewayError): OpenaiErrorBody {
  const status = chooseStatus(error);
  const model = error.code === 'model_not_found' ? detail(error, 'model') : undefined;
  return {
    message: model === undefined ? error.message : `The requested model '${model}' does not exist.`,
    type: detail(error, 'openai_type') ?? wordErrorType(status),
    param: error.param ?? (error.code === 'model_not_found' ? 'model' : null),
    code: detail(error, 'openai_code') ?? wordCode(error, status),
  };
}

/** An error as an HTTP answer: `{"error":{"message","type","param","code"}}`. */
export function encodeError(error: GatewayError, requestId: string): HttpReply {
  return { ...encodeErrorReply(error, requestId, JSON.stringify({ error: createErrorBody(error) })), status: chooseStatus(error) };
}
