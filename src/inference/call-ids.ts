import { createHash } from 'node:crypto';

/**
 * Fits the id of a call to the rules of an upstream. An id that fits is unchanged. Any other is replaced by its digest,
 * which is the same for the call, for its result and in every later request, so that nothing has to be stored.
 */
export function fitCallId(id: string, rules: { readonly pattern: RegExp; readonly charactersMax: number }): string {
  if (id.length > 0 && id.length <= rules.charactersMax && rules.pattern.test(id)) return id;
  return `call_${createHash('sha256').update(id).digest('hex').slice(0, 24)}`;
}
