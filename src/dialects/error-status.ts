/**
 * The value if it is the status of an HTTP error. Servers put it into the `code` of errors that they send with a 200.
 */
export const errorStatusOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isInteger(value) && value >= 400 && value <= 599 ? value : undefined;

/**
 * The HTTP status that belongs to an error type or code, for errors inside a 200. One table serves all dialects,
 * because servers that imitate one vendor use names of others. Names are compared in lower case.
 */
const statusByWord: ReadonlyMap<string, number> = new Map(
  Object.entries({
    400: [
      'invalid_request_error',
      'invalid_request',
      'bad_request',
      'badrequest',
      'bad_request_error',
      'badrequesterror',
      'validation_error',
      'invalid_argument',
      'invalid_value',
      'invalid_prompt',
      'invalid_image',
      'failed_precondition',
      'out_of_range',
      'unsupported_value',
      'unsupported_parameter',
      'context_length_exceeded',
      'string_above_max_length',
      'previous_response_not_found',
      'tool_use_failed',
      'json_validate_failed',
      'content_filter',
      'content_policy_violation',
      'content_moderation',
      'moderation_blocked',
      'responsibleaipolicyviolation',
    ],
    401: ['authentication_error', 'authenticationerror', 'invalid_api_key', 'unauthenticated', 'unauthorized'],
    402: ['billing_error', 'payment_required', 'insufficient_credits', 'insufficient_balance'],
    403: ['permission_error', 'permission_denied', 'permissiondeniederror', 'forbidden', 'unsupported_country_region_territory'],
    404: ['not_found_error', 'not_found', 'notfounderror', 'model_not_found'],
    409: ['conflict_error', 'aborted', 'already_exists'],
    413: ['request_too_large', 'payload_too_large'],
    422: ['unprocessable_entity', 'unprocessable_entity_error'],
    429: [
      'rate_limit_error',
      'rate_limit_exceeded',
      'ratelimiterror',
      'too_many_requests',
      'resource_exhausted',
      'insufficient_quota',
      'billing_hard_limit_reached',
    ],
    499: ['cancelled'],
    500: ['api_error', 'server_error', 'internal_error', 'internal_server_error', 'internalservererror', 'internal', 'data_loss'],
    503: [
      'unavailable',
      'service_unavailable',
      'serviceunavailableerror',
      'server_is_overloaded',
      'engine_overloaded',
      'slow_down',
      'overloaded',
    ],
    504: ['timeout_error', 'timeout', 'deadline_exceeded', 'gateway_timeout'],
    529: ['overloaded_error'],
  }).flatMap(([status, words]) => words.map((word) => [word, Number(status)] as const)),
);

/** Some servers write a status as text. */
function readStatus(value: unknown): number | undefined {
  return errorStatusOf(typeof value === 'string' && /^[45]\d\d$/.test(value) ? Number(value) : value);
}

/** The members by which an error names its kind, the most specific first. */
const members = ['status_code', 'statusCode', 'http_status', 'code', 'status', 'type'] as const;

/**
 * The status of an error object inside a 200: the number that it names, otherwise the status of its code or type.
 * Undefined if neither is known.
 * @param error the error object and the objects around it
 */
export function statusOfError(...errors: readonly Readonly<Record<string, unknown>>[]): number | undefined {
  for (const error of errors) {
    for (const member of members) {
      const status = readStatus(error[member]);
      if (status !== undefined) return status;
    }
  }
  for (const error of errors) {
    for (const member of members) {
      const word = error[member];
      const status = typeof word === 'string' ? statusByWord.get(word.toLowerCase()) : undefined;
      if (status !== undefined) return status;
    }
  }
  return undefined;
}

/** The codes and types by which an error object names its kind, in lower case. */
export function wordsOfError(...errors: readonly Readonly<Record<string, unknown>>[]): readonly string[] {
  const found = errors.flatMap((error) => members.map((member) => error[member]));
  return [...new Set(found.flatMap((word) => (typeof word === 'string' && word !== '' ? [word.toLowerCase()] : [])))];
}

const quotaWords: ReadonlySet<string> = new Set([
  'insufficient_quota',
  'billing_hard_limit_reached',
  'billing_error',
  'insufficient_credits',
  'insufficient_balance',
  'payment_required',
]);

/**
 * Whether the account at the upstream has no credit left, from the status of an error or its codes and types in lower
 * case. One table serves HTTP errors, errors inside a 200, and all dialects.
 */
export function isOutOfCredit(status: number | undefined, words: readonly string[]): boolean {
  return status === 402 || words.some((word) => quotaWords.has(word));
}
