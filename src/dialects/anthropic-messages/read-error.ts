import { filledText, meaningOf, textOf } from '../../platform/json/json-readers.ts';
import { isJsonObject } from '../../platform/json/json-value.ts';
import type { ErrorInReply } from '../chat-dialect.ts';
import { errorStatusOf } from '../error-status.ts';

/** The statuses that the vendor sends with its error types, and the contract's `server_error` besides. */
const statusByErrorType: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  conflict_error: 409,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  server_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
};

/**
 * Reads the `error` member of a Messages body or error event. The status is the number that the server put into `code`, else that
 * of the vendor's error type. Servers that imitate the vendor send plain text instead of an object.
 */
export function readError(error: unknown): ErrorInReply {
  if (typeof error === 'string' && error !== '') return { message: error };
  if (!isJsonObject(error)) return { message: 'The upstream reported an error without a message.' };
  const type = textOf(error.type);
  const message = filledText(error.message) ?? type;
  const status = errorStatusOf(error.code) ?? meaningOf(type, statusByErrorType);
  return { message: message ?? 'The upstream reported an error without a message.', ...(status !== undefined && { status }) };
}
