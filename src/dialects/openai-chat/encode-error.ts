import type { ErrorCode, GatewayError } from '../../inference/gateway-error.ts';
import { encodeSse } from '../../platform/sse/encode-sse.ts';
import type { HttpReply } from '../chat-dialect.ts';

/** Writes an error as a whole reply, in the vendor's form: all four members are always there, null where there is nothing to say. */
export function encodeError(error: GatewayError, requestId: string): HttpReply {
  return {
    status: error.status,
    headers: {
      ...error.headers,
      ...(error.retryAfterSeconds !== undefined && { 'retry-after': String(error.retryAfterSeconds) }),
      'content-type': 'application/json',
      'x-request-id': requestId,
    },
    body: Buffer.from(JSON.stringify(encodeErrorBody(error))),
  };
}

/** Writes the chunk that ends a broken stream. No `[DONE]` follows: a client must not take the text so far as the whole answer. */
export function encodeStreamError(error: GatewayError): Buffer {
  return encodeSse({ data: JSON.stringify(encodeErrorBody(error)) });
}

function encodeErrorBody(error: GatewayError): object {
  const model = error.details?.model;
  // The vendor's own sentence, which programs look for, and it names no field with it.
  const isUnknownModel = error.code === 'model_not_found';
  const message =
    isUnknownModel && typeof model === 'string' ? `The model \`${model}\` does not exist or you do not have access to it.` : error.message;
  const param = isUnknownModel ? null : (error.param ?? null);
  return { error: { message, type: encodeType(error.status), param, code: encodeCode(error) } };
}

function encodeType(status: number): string {
  if (status >= 500) return 'server_error';
  if (status === 429) return 'requests';
  return status === 402 ? 'insufficient_quota' : 'invalid_request_error';
}

/** Our codes that the vendor has another word for, or none. */
const vendorCodes: Partial<Record<ErrorCode, string | null>> = {
  missing_required_field: 'missing_required_parameter',
  unknown_field: 'unknown_parameter',
  route_not_found: null,
};

/** The vendor's machine code where it has one for the case; else our own stable code, or null as the vendor does. */
function encodeCode(error: GatewayError): string | null {
  const vendorCode = error.details?.openai_code;
  if (typeof vendorCode === 'string') return vendorCode;
  if (error.status === 401) return 'invalid_api_key';
  if (error.status === 402) return 'insufficient_quota';
  if (error.status === 429) return 'rate_limit_exceeded';
  return error.code in vendorCodes ? (vendorCodes[error.code] ?? null) : error.code;
}
