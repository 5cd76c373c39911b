import type { RequestHeaders } from './wording.ts';

/** Header with which a client asks that nothing be left out of its request silently: a loss is then a 400. */
const strictHeader = 'x-weir-strict';

/** Whether a call must not lose anything where its request is written for another interface: its key or its client says so. */
export function asksForStrict(caller: { readonly strictTranslation: boolean }, headers: RequestHeaders): boolean {
  const value = headers[strictHeader];
  return caller.strictTranslation || (typeof value === 'string' && /^(?:1|true|yes|on)$/i.test(value.trim()));
}
