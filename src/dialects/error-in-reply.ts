import type { ErrorInReply } from './chat-dialect.ts';
import { isOutOfCredit, statusOfError, wordsOfError } from './error-status.ts';

/**
 * An error object that came inside a 200, with the status that it would have had on a status line: so that it decides about retries and health as a status line does.
 * @param errors the error object, and around it what it stands in
 */
export function describeErrorInReply(message: string, ...errors: readonly Readonly<Record<string, unknown>>[]): ErrorInReply {
  const status = statusOfError(...errors);
  const hasNoCredit = isOutOfCredit(status, wordsOfError(...errors));
  return { message, ...(status !== undefined && { status }), ...(hasNoCredit && { isOutOfCredit: true }) };
}
