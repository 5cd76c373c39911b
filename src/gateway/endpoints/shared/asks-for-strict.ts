import type { RequestHeaders } from './wording.ts';

/** The header with which a client forbids losses in translation: each becomes a 400. */
const strictHeader = 'x-weir-strict';

/** Whether the key or the client of a call forbids losses when its request is translated. */
export function asksForStrict(caller: { readonly strictTranslation: boolean }, headers: RequestHeaders): boolean {
  const value = headers[strictHeader];
  return caller.strictTranslation || (typeof value === 'string' && /^(?:1|true|yes|on)$/i.test(value.trim()));
}
