import type { ErrorInReply } from './chat-dialect.ts';
import { statusOfError, wordsOfError } from './error-status.ts';

const quotaWords: ReadonlySet<string> = new Set([
  'insufficient_quota',
  'billing_hard_limit_reached',
  'billing_error',
  'insufficient_credits',
  'insufficient_balance',
  'payment_required',
]);

/**
 * An error object that came inside a 200, with the status that it would have had on a status line: so that it decides about retries and health as a status line does.
 * @param errors the error object, and around it what it stands in
 */
export function describeErrorInReply(message: string, ...errors: readonly Readonly<Record<string, unknown>>[]): ErrorInReply {
  const status = statusOfError(...errors);
  const isOutOfCredit = status === 402 || wordsOfError(...errors).some((word) => quotaWords.has(word));
  return { message, ...(status !== undefined && { status }), ...(isOutOfCredit && { isOutOfCredit: true }) };
}
