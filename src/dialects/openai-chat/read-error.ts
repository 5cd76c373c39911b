import { filledText } from '../../platform/json/json-readers.ts';
import { isJsonObject } from '../../platform/json/json-value.ts';
import type { ErrorInReply } from '../chat-dialect.ts';
import { describeErrorInReply } from '../error-in-reply.ts';

const defaultMessage = 'The upstream reported an error without a message.';

/**
 * Reads an `error` member, in the vendor's form or as the plain text that some servers send.
 * @param around the body or the chunk, where some servers put the status
 */
export function readError(error: unknown, around?: unknown): ErrorInReply {
  const outer = isJsonObject(around) ? [around] : [];
  if (typeof error === 'string' && error !== '') return describeErrorInReply(error, ...outer);
  if (!isJsonObject(error)) return { message: defaultMessage };
  const { message, code, type } = error;
  return describeErrorInReply(filledText(message) ?? filledText(code) ?? filledText(type) ?? defaultMessage, error, ...outer);
}

/** Whether an `error` member reports an error. Some servers send null or an empty text with every successful reply. */
export function isError(error: unknown): boolean {
  return (typeof error === 'string' && error !== '') || isJsonObject(error);
}
