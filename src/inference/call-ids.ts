import { createHash } from 'node:crypto';

/**
 * Fits a call's id to what an upstream allows. An id that fits stays as it is; another becomes a digest of itself, which is the same for
 * the call and for its result and in every later request, so that nothing has to be remembered.
 */
export function fitCallId(id: string, rules: { readonly pattern: RegExp; readonly charactersMax: number }): string {
  if (id.length > 0 && id.length <= rules.charactersMax && rules.pattern.test(id)) return id;
  return `call_${createHash('sha256').update(id).digest('hex').slice(0, 24)}`;
}
