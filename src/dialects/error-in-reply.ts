import type { ErrorInReply } from './chat-dialect.ts';
import { readFilterRefusal } from './content-filter.ts';
import { isOutOfCredit, statusOfError, wordsOfError } from './error-status.ts';

/**
 * Describes an error object inside a 200, with the status that it would have had as an HTTP answer. Retries and health
 * then treat both alike.
 * @param errors the error object and the objects around it
 */
export function describeErrorInReply(message: string, ...errors: readonly Readonly<Record<string, unknown>>[]): ErrorInReply {
  const status = statusOfError(...errors);
  const hasNoCredit = isOutOfCredit(status, wordsOfError(...errors));
  const filtered = errors.map((error) => readFilterRefusal({ error })).find((found) => found !== undefined);
  return {
    message,
    ...(status !== undefined && { status }),
    ...(hasNoCredit && { isOutOfCredit: true }),
    ...(filtered !== undefined && { filtered }),
  };
}
