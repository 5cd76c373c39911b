import { isJsonObject } from '../../platform/json/json-value.ts';
import type { ErrorInReply } from '../chat-dialect.ts';

/** Reads an `error` member, in the vendor's form or as the plain text that some servers send. The status is its `code` where that is one. */
export function readError(error: unknown): ErrorInReply {
  if (typeof error === 'string' && error !== '') return { message: error };
  if (!isJsonObject(error)) return { message: 'The upstream reported an error without a message.' };
  const { message, code, type } = error;
  const words = [message, code, type].find((value) => typeof value === 'string' && value !== '');
  return {
    message: typeof words === 'string' ? words : 'The upstream reported an error without a message.',
    ...(typeof code === 'number' && Number.isInteger(code) && code >= 400 && code <= 599 && { status: code }),
  };
}

/** Whether an `error` member says that there is one: some servers send null, and some an empty text, with every good reply. */
export function isError(error: unknown): boolean {
  return (typeof error === 'string' && error !== '') || isJsonObject(error);
}
