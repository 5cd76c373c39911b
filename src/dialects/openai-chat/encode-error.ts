import type { GatewayError } from '../../inference/gateway-error.ts';
import { encodeSse } from '../../platform/sse/encode-sse.ts';
import type { HttpReply } from '../error-voice.ts';
import { encodeErrorReply } from '../encode-error-reply.ts';
import { commonVendorCodes, type OpenaiErrorBody, wordErrorKind, wordErrorType } from '../openai-error-words.ts';

/** Writes an error as a whole reply in the vendor's form: all four members are always present, null if unknown. */
export function encodeError(error: GatewayError, requestId: string): HttpReply {
  return encodeErrorReply(error, requestId, JSON.stringify(encodeErrorBody(error)));
}

/**
 * Writes the chunk that ends a broken stream. No `[DONE]` follows, so that no client takes the text for a whole answer.
 */
export function encodeStreamError(error: GatewayError): Buffer {
  return encodeSse({ data: JSON.stringify(encodeErrorBody(error)) });
}

/** Programs shorten their conversation when they read the vendor's code and message. */
function wordContextOverflow({ message, details = {} }: GatewayError): string {
  const { tokens, tokensMax } = details;
  if (/maximum context length/i.test(message)) return message;
  if (typeof tokensMax !== 'number') return `This request exceeds the model's maximum context length. ${message}`;
  const used = typeof tokens === 'number' ? ` However, your messages resulted in ${tokens} tokens.` : '';
  return `This model's maximum context length is ${tokensMax} tokens.${used} Please reduce the length of the messages.`;
}

function encodeErrorBody(error: GatewayError): { readonly error: OpenaiErrorBody } {
  if (error.code === 'context_length_exceeded') {
    const param = error.param ?? 'messages';
    return { error: { message: wordContextOverflow(error), type: wordErrorType(error.status), param, code: error.code } };
  }
  const model = error.details?.model;
  // The vendor's own message, which programs look for. It has no `param`.
  const isUnknownModel = error.code === 'model_not_found';
  const message =
    isUnknownModel && typeof model === 'string' ? `The model \`${model}\` does not exist or you do not have access to it.` : error.message;
  const param = isUnknownModel ? null : (error.param ?? null);
  const type = wordErrorKind(error);
  return { error: { message, type, param, code: encodeCode(error) } };
}

/**
 * The vendor's machine code if it has one for the case. Otherwise our stable code, or null if the vendor sends null.
 */
function encodeCode(error: GatewayError): string | null {
  const vendorCode = error.details?.openai_code;
  if (typeof vendorCode === 'string') return vendorCode;
  if (error.status === 401) return 'invalid_api_key';
  if (error.status === 402 || error.code === 'spend_limit_reached') return 'insufficient_quota';
  if (error.status === 429) return 'rate_limit_exceeded';
  // For a client it does not matter which server lacks the model, and programs compare this code.
  if (error.code === 'upstream_model_not_found') return 'model_not_found';
  const code = commonVendorCodes[error.code];
  return code === undefined ? error.code : code;
}
