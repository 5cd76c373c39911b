import { GatewayError } from '../../inference/gateway-error.ts';
import type { HttpReply } from '../error-voice.ts';
import { encodeErrorReply } from '../encode-error-reply.ts';
import { commonVendorCodes, wordErrorKind } from '../openai-error-words.ts';

/**
 * Writes an error of the audio interface. All four members are strings, empty if unknown. Vendors write null there, and
 * SDKs accept both.
 */
export function encodeAudioError(error: GatewayError, requestId: string): HttpReply {
  return encodeErrorReply(error, requestId, JSON.stringify(encodeAudioErrorBody(error)));
}

/** The event that ends a broken stream. Its `error` member makes SDKs throw. */
export function encodeAudioStreamError(error: GatewayError): Buffer {
  return Buffer.from(`data: ${JSON.stringify(encodeAudioErrorBody(error))}\n\n`);
}

function encodeAudioErrorBody(error: GatewayError): object {
  return { error: { message: error.message, type: wordErrorKind(error), param: error.param ?? '', code: encodeCode(error) } };
}

/** The vendor's machine code if it has one for the case, otherwise ours. Never empty. */
function encodeCode(error: GatewayError): string {
  const vendorCode = error.details?.['openai_code'];
  if (typeof vendorCode === 'string') return vendorCode;
  if (error.status === 401) return 'invalid_api_key';
  if (error.status === 402 || error.code === 'spend_limit_reached') return 'insufficient_quota';
  if (error.status === 429) return 'rate_limit_exceeded';
  if (error.code === 'upstream_model_not_found') return 'model_not_found';
  return commonVendorCodes[error.code] ?? error.code;
}

/** The refusal of a field's value. @param code the vendor's machine code */
export function invalidField(param: string, message: string, code = 'invalid_value'): GatewayError {
  return new GatewayError('invalid_value', message, { param, details: { openai_code: code } });
}

export function missingField(param: string): GatewayError {
  return new GatewayError('missing_required_field', `Missing required parameter: '${param}'.`, { param });
}

export function unknownField(name: string): GatewayError {
  const param = name.slice(0, 80);
  return new GatewayError('unknown_field', `Unknown parameter: '${param}'.`, { param });
}

/** The refusal of a value that is not one of a field's supported values. */
export function unsupportedValue(param: string, value: string, words: readonly string[]): GatewayError {
  const list = words.map((word) => `'${word}'`).join(', ');
  return invalidField(param, `Invalid value: '${value.slice(0, 80)}'. Supported values are: ${list}.`);
}
