import { filledText } from '../../platform/json/json-readers.ts';
import { isJsonObject } from '../../platform/json/json-value.ts';
import type { ErrorInReply } from '../chat-dialect.ts';
import { errorStatusOf } from '../error-status.ts';

/**
 * Reads an `error` member, in the vendor's form or as the plain text that some servers send. The status is its `code` where that is one.
 */
export function readError(error: unknown): ErrorInReply {
  if (typeof error === 'string' && error !== '') return { message: error };
  if (!isJsonObject(error)) return { message: 'The upstream reported an error without a message.' };
  const { message, code, type } = error;
  const status = errorStatusOf(code);
  return {
    message: filledText(message) ?? filledText(code) ?? filledText(type) ?? 'The upstream reported an error without a message.',
    ...(status !== undefined && { status }),
  };
}

/** Whether an `error` member says that there is one: some servers send null, and some an empty text, with every good reply. */
export function isError(error: unknown): boolean {
  return (typeof error === 'string' && error !== '') || isJsonObject(error);
}
