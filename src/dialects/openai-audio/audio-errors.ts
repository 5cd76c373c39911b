import { GatewayError } from '../../inference/gateway-error.ts';
import type { HttpReply } from '../error-voice.ts';
import { encodeErrorReply } from '../encode-error-reply.ts';
import { commonVendorCodes, wordErrorKind } from '../openai-error-words.ts';

/** Writes an error of the audio interface: all four members are strings, empty where there is nothing to say. Vendors write null there, and SDKs take both. */
export function encodeAudioError(error: GatewayError, requestId: string): HttpReply {
  return encodeErrorReply(error, requestId, JSON.stringify(encodeAudioErrorBody(error)));
}

/** The event that ends a broken stream, as SDKs read it: an `error` member makes them throw. */
export function encodeAudioStreamError(error: GatewayError): Buffer {
  return Buffer.from(`data: ${JSON.stringify(encodeAudioErrorBody(error))}\n\n`);
}

function encodeAudioErrorBody(error: GatewayError): object {
  return { error: { message: error.message, type: wordErrorKind(error), param: error.param ?? '', code: encodeCode(error) } };
}

/** The vendor's machine code where it has one for the case, else our own. Never empty. */
function encodeCode(error: GatewayError): string {
  const vendorCode = error.details?.['openai_code'];
  if (typeof vendorCode === 'string') return vendorCode;
  if (error.status === 401) return 'invalid_api_key';
  if (error.status === 402 || error.code === 'spend_limit_reached') return 'insufficient_quota';
  if (error.status === 429) return 'rate_limit_exceeded';
  if (error.code === 'upstream_model_not_found') return 'model_not_found';
  return commonVendorCodes[error.code] ?? error.code;
}

/** A field with a value that it does not take. @param code the vendor's machine code */
export function invalidField(param: string, message: string, code = 'invalid_value'): GatewayError {
  return new GatewayError('invalid_value', message, { param, details: { openai_code: code } });
}

/** A field that must be there and is not. */
export function missingField(param: string): GatewayError {
  return new GatewayError('missing_required_field', `Missing required parameter: '${param}'.`, { param });
}

/** A field that the documented interface does not have. */
export function unknownField(name: string): GatewayError {
  const param = name.slice(0, 80);
  return new GatewayError('unknown_field', `Unknown parameter: '${param}'.`, { param });
}

/** A value that is none of the words that a field takes. */
export function unsupportedWord(param: string, value: string, words: readonly string[]): GatewayError {
  const list = words.map((word) => `'${word}'`).join(', ');
  return invalidField(param, `Invalid value: '${value.slice(0, 80)}'. Supported values are: ${list}.`);
}
