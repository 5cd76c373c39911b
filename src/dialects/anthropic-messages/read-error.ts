import { filledText, textOf } from '../../platform/json/json-readers.ts';
import { isJsonObject } from '../../platform/json/json-value.ts';
import type { ErrorInReply } from '../chat-dialect.ts';
import { describeErrorInReply } from '../error-in-reply.ts';

const unsaid = 'The upstream reported an error without a message.';

/**
 * Reads the `error` member of a Messages body or error event. Imitating servers send plain text instead of an object.
 * @param around the body or the event, where some servers put the status
 */
export function readError(error: unknown, around?: unknown): ErrorInReply {
  if (typeof error === 'string' && error !== '') return { message: error };
  if (!isJsonObject(error)) return { message: unsaid };
  const message = filledText(error.message) ?? textOf(error.type) ?? unsaid;
  return describeErrorInReply(message, error, ...(isJsonObject(around) ? [around] : []));
}
