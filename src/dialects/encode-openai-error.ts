import type { GatewayError } from '../inference/gateway-error.ts';
import { encodeSse } from '../platform/sse/encode-sse.ts';
import type { HttpReply } from './error-voice.ts';
import { encodeErrorReply } from './encode-error-reply.ts';
import { commonVendorCodes, type OpenaiErrorBody, wordErrorKind } from './openai-error-words.ts';

// For the vendor's interfaces other than chat: all four members are present, null if unknown.

/** Writes an error as a whole reply. */
export function encodeOpenaiError(error: GatewayError, requestId: string): HttpReply {
  return encodeErrorReply(error, requestId, JSON.stringify({ error: writeError(error) }));
}

/** Writes the event that ends a broken stream. SDKs throw when they read its event name or its `error` member. */
export function encodeOpenaiStreamError(error: GatewayError): Buffer {
  return encodeSse({ event: 'error', data: JSON.stringify({ type: 'error', error: writeError(error) }) });
}

function writeError(error: GatewayError): OpenaiErrorBody {
  return { message: error.message, type: wordErrorKind(error), param: error.param ?? null, code: encodeCode(error) };
}

/**
 * The vendor's machine code if it has one for the case. Otherwise our stable code, or null if the vendor sends null.
 */
function encodeCode(error: GatewayError): string | null {
  const vendorCode = error.details?.['openai_code'];
  if (typeof vendorCode === 'string') return vendorCode;
  if (error.status === 401) return 'invalid_api_key';
  if (error.status === 402) return 'insufficient_quota';
  if (error.status === 429 && error.code !== 'spend_limit_reached') return 'rate_limit_exceeded';
  if (error.code === 'upstream_model_not_found') return 'model_not_found';
  const code = commonVendorCodes[error.code];
  return code === undefined ? error.code : code;
}
