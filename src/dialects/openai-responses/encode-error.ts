import type { ErrorCode, GatewayError } from '../../inference/gateway-error.ts';
import type { HttpReply } from '../chat-dialect.ts';

/** The four members of the vendor's error object; all are always present. */
export type ErrorBody = {
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly code: string | null;
};

const detail = (error: GatewayError, name: string): string | undefined => {
  const value = error.details?.[name];
  return typeof value === 'string' ? value : undefined;
};

/** The vendor's word for the kind of error. It follows the status, so that an error with a status of its own is named by it. */
function wordType(status: number): string {
  if (status >= 500) return 'server_error';
  if (status === 429) return 'requests';
  return status === 402 ? 'insufficient_quota' : 'invalid_request_error';
}

/** The vendor's machine codes, which programs compare, where they differ from ours; null where the vendor has none. */
const vendorCodes: Partial<Record<ErrorCode, string | null>> = {
  missing_required_field: 'missing_required_parameter',
  unknown_field: 'unknown_parameter',
  reply_not_found: 'previous_response_not_found',
  conflicting_credentials: 'invalid_api_key',
  missing_api_key: null,
  route_not_found: null,
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
export function createErrorBody(error: GatewayError): ErrorBody {
  const status = chooseStatus(error);
  const model = error.code === 'model_not_found' ? detail(error, 'model') : undefined;
  return {
    message: model === undefined ? error.message : `The requested model '${model}' does not exist.`,
    type: detail(error, 'openai_type') ?? wordType(status),
    param: error.param ?? (error.code === 'model_not_found' ? 'model' : null),
    code: detail(error, 'openai_code') ?? wordCode(error, status),
  };
}

/** An error as an HTTP answer: `{"error":{"message","type","param","code"}}`. */
export function encodeError(error: GatewayError, requestId: string): HttpReply {
  return {
    status: chooseStatus(error),
    headers: {
      'content-type': 'application/json',
      'x-request-id': requestId,
      ...(error.retryAfterSeconds !== undefined && { 'retry-after': String(error.retryAfterSeconds) }),
      ...error.headers,
    },
    body: Buffer.from(JSON.stringify({ error: createErrorBody(error) })),
  };
}
