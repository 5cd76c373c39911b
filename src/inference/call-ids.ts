import { createHash } from 'node:crypto';

/**
 * Fits the id of a call to the rules of an upstream. An id that fits is unchanged. Any other is replaced by its digest,
 * which is the same for the call, for its result and in every later request, so that nothing has to be stored.
 */
export function fitCallId(id: string, rules: { readonly pattern: RegExp; readonly charactersMax: number }): string {
  if (id.length > 0 && id.length <= rules.charactersMax && rules.pattern.test(id)) return id;
  return `call_${createHash('sha256').update(id).digest('hex').slice(0, 24)}`;
}

const ninePattern = /^[A-Za-z0-9]{9}$/;
const alphanumerics = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/**
 * The same for models of Mistral, whose ids of calls have exactly nine letters and digits (opencode#1680,
 * langchain#24668).
 */
export function fitCallIdToNine(id: string): string {
  if (ninePattern.test(id)) return id;
  let number = createHash('sha256').update(id).digest().readBigUInt64BE();
  let fitted = '';
  while (fitted.length < 9) {
    fitted += alphanumerics[Number(number % 62n)];
    number /= 62n;
  }
  return fitted;
}
