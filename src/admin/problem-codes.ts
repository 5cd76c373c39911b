/**
 * Every code of a problem, its HTTP status, its title, and whether the same request may succeed later. Codes are never
 * reused. Each has a page at `/problems/<code>`.
 */
export const problemCodes = {
  invalid_request: { status: 400, title: 'The request is not valid.', retryable: false },
  malformed_request: { status: 400, title: 'The request cannot be read.', retryable: false },
  cursor_mismatch: { status: 400, title: 'The cursor belongs to another question.', retryable: false },
  grouping_too_wide: { status: 400, title: 'These groups need a shorter time.', retryable: false },
  authorization_pending: { status: 400, title: 'Nobody has approved the sign-in yet.', retryable: true },
  slow_down: { status: 400, title: 'The device asks too often.', retryable: true },
  access_denied: { status: 400, title: 'The sign-in of the device was refused.', retryable: false },
  expired_token: { status: 400, title: 'The device code has expired.', retryable: false },
  unauthenticated: { status: 401, title: 'No valid session or token.', retryable: false },
  two_credentials: { status: 400, title: 'The request has a cookie and a token.', retryable: false },
  permission_required: { status: 403, title: 'A permission is missing.', retryable: false },
  recent_sign_in_required: { status: 403, title: 'The sign-in is too old for this.', retryable: false },
  cross_origin: { status: 403, title: 'The request comes from another site.', retryable: false },
  tls_required: { status: 403, title: 'Signing in needs https.', retryable: false },
  not_found: { status: 404, title: 'There is no such object.', retryable: false },
  unknown_path: { status: 404, title: 'There is no such path.', retryable: false },
  method_not_allowed: { status: 405, title: 'The path does not accept this method.', retryable: false },
  request_timeout: { status: 408, title: 'The request did not arrive in time.', retryable: true },
  name_taken: { status: 409, title: 'The name is in use.', retryable: false },
  conflict: { status: 409, title: 'The change contradicts the present state.', retryable: false },
  idempotency_conflict: { status: 409, title: 'The Idempotency-Key was used for another request.', retryable: false },
  idempotency_in_progress: { status: 409, title: 'The first request with this Idempotency-Key is under way.', retryable: true },
  idempotency_spent: { status: 409, title: 'The answer of the first request cannot be repeated.', retryable: false },
  version_mismatch: { status: 412, title: 'The object has changed.', retryable: false },
  body_too_large: { status: 413, title: 'The body is too large.', retryable: false },
  unsupported_type: { status: 415, title: 'The body has another type.', retryable: false },
  range_not_satisfiable: { status: 416, title: 'The file has no such part.', retryable: false },
  wrong_host: { status: 421, title: 'The server does not have this name.', retryable: false },
  if_match_required: { status: 428, title: 'The request needs If-Match.', retryable: false },
  idempotency_key_required: { status: 428, title: 'The request needs an Idempotency-Key.', retryable: false },
  too_many_requests: { status: 429, title: 'Too many requests.', retryable: true },
  headers_too_large: { status: 431, title: 'The headers are too large.', retryable: false },
  internal_error: { status: 500, title: 'The server failed.', retryable: false },
  unavailable: { status: 503, title: 'The server cannot answer at the moment.', retryable: true },
} as const satisfies Readonly<Record<string, { readonly status: number; readonly title: string; readonly retryable: boolean }>>;

export type ProblemCode = keyof typeof problemCodes;
