/**
 * All errors that Weir itself can return. A code is stable, is never reused and belongs to one class. The class decides
 * the HTTP status, and each dialect writes its vendor's error body from it. A test compares docs/reference/errors.md
 * with this table.
 */
export const errorCodes = {
  invalid_json: { status: 400, class: 'invalid_request' },
  invalid_value: { status: 400, class: 'invalid_request' },
  missing_required_field: { status: 400, class: 'invalid_request' },
  unknown_field: { status: 400, class: 'invalid_request' },
  missing_required_header: { status: 400, class: 'invalid_request' },
  body_too_deep: { status: 400, class: 'invalid_request' },
  duplicate_key: { status: 400, class: 'invalid_request' },
  body_incomplete: { status: 400, class: 'invalid_request' },
  thread_unsupported: { status: 400, class: 'invalid_request' },
  reply_not_found: { status: 400, class: 'invalid_request' },
  conversation_locked: { status: 400, class: 'invalid_request' },
  tool_unavailable: { status: 400, class: 'invalid_request' },
  task_not_finished: { status: 400, class: 'invalid_request' },
  invalid_media: { status: 400, class: 'invalid_request' },
  insufficient_credit: { status: 402, class: 'payment' },
  spend_limit_reached: { status: 429, class: 'rate_limit' },
  credits_unavailable: { status: 503, class: 'unavailable' },
  idempotency_in_progress: { status: 409, class: 'invalid_request' },
  media_quota_exceeded: { status: 403, class: 'permission' },
  result_unavailable: { status: 502, class: 'server' },
  range_not_satisfiable: { status: 416, class: 'invalid_request' },
  idempotency_conflict: { status: 409, class: 'invalid_request' },
  idempotency_spent: { status: 409, class: 'invalid_request' },
  idempotency_unavailable: { status: 503, class: 'unavailable' },
  tasks_unavailable: { status: 503, class: 'unavailable' },
  untranslatable_field: { status: 400, class: 'invalid_request' },
  no_suitable_target: { status: 400, class: 'invalid_request' },
  context_length_exceeded: { status: 400, class: 'invalid_request' },
  upstream_refused_request: { status: 400, class: 'invalid_request' },
  upstream_content_filtered: { status: 400, class: 'invalid_request' },
  invalid_url: { status: 400, class: 'invalid_request' },
  invalid_host: { status: 400, class: 'invalid_request' },
  expired_api_key: { status: 401, class: 'authentication' },
  missing_api_key: { status: 401, class: 'authentication' },
  invalid_api_key: { status: 401, class: 'authentication' },
  conflicting_credentials: { status: 401, class: 'authentication' },
  model_not_priced: { status: 403, class: 'permission' },
  address_not_allowed: { status: 403, class: 'permission' },
  upstream_permission_denied: { status: 403, class: 'permission' },
  model_not_found: { status: 404, class: 'not_found' },
  upstream_model_not_found: { status: 404, class: 'not_found' },
  object_not_found: { status: 404, class: 'not_found' },
  route_not_found: { status: 404, class: 'not_found' },
  method_not_allowed: { status: 405, class: 'method_not_allowed' },
  request_timeout: { status: 408, class: 'invalid_request' },
  request_too_large: { status: 413, class: 'too_large' },
  unsupported_media_type: { status: 415, class: 'unsupported_media_type' },
  unsupported_content_encoding: { status: 415, class: 'unsupported_media_type' },
  upgrade_required: { status: 426, class: 'upgrade_required' },
  rate_limited: { status: 429, class: 'rate_limit' },
  upstream_rate_limited: { status: 429, class: 'rate_limit' },
  internal_error: { status: 500, class: 'server' },
  upstream_invalid_reply: { status: 502, class: 'server' },
  upstream_reply_too_large: { status: 502, class: 'server' },
  upstream_error: { status: 502, class: 'server' },
  upstream_unreachable: { status: 503, class: 'unavailable' },
  upstream_connection_error: { status: 503, class: 'unavailable' },
  upstream_credentials_rejected: { status: 503, class: 'unavailable' },
  targets_taken_out: { status: 503, class: 'unavailable' },
  upstream_overloaded: { status: 503, class: 'unavailable' },
  upstream_quota_exhausted: { status: 503, class: 'unavailable' },
  journal_unavailable: { status: 503, class: 'unavailable' },
  accounts_unavailable: { status: 503, class: 'unavailable' },
  receipts_unavailable: { status: 503, class: 'unavailable' },
  responses_unavailable: { status: 503, class: 'unavailable' },
  storage_unavailable: { status: 503, class: 'unavailable' },
  overloaded: { status: 503, class: 'unavailable' },
  shutting_down: { status: 503, class: 'unavailable' },
  upstream_timeout: { status: 504, class: 'timeout' },
} as const satisfies Record<string, { status: number; class: string }>;

export type ErrorCode = keyof typeof errorCodes;
/** The level that a limit belongs to: see AccountLevel of the accounts. */
type LimitLevel = 'key' | 'user' | 'team' | 'organization';

export type ErrorClass = (typeof errorCodes)[ErrorCode]['class'];

/**
 * A limit of the gateway that a call would exceed: its owner, what it counts, its amount, the part of it that is used,
 * and what the call needs.
 */
export type ExceededLimit = {
  readonly scope: LimitLevel | 'model';
  readonly of: 'requests' | 'tokens' | 'concurrency';
  readonly limit: number;
  readonly used: number;
  readonly needed: number;
};

/** A spend limit that a call would exceed: its owner, its period, and its amount in USD as a decimal string. */
export type ExceededSpend = { readonly scope: LimitLevel; readonly period: 'day' | 'month' | 'total'; readonly limitUsd: string };

export type GatewayErrorOptions = {
  /** The request field with the error, as the client's dialect spells paths: `messages.0.content`, `input[1].role`. */
  readonly param?: string;
  /** Only for the operator's log, never sent to a client. It must not contain secrets or text of prompts. */
  readonly internal?: string;
  /**
   * Additional members of the error body that client programs read, by dialect (for example Messages `error.details`).
   */
  readonly details?: Readonly<Record<string, unknown>>;
  /** Whole seconds until a retry can succeed; sent as `retry-after`. */
  readonly retryAfterSeconds?: number;
  /** Replaces the status of the code, for example if an upstream names another status inside a 200. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** For `rate_limited`. Each dialect formats it as its vendor does. */
  readonly exceededLimit?: ExceededLimit;
  /** For `spend_limit_reached`. */
  readonly exceededSpend?: ExceededSpend;
  readonly cause?: unknown;
};

/**
 * An error with a message for the client (`message`) and a message for the log (`internal`). Only a dialect turns it
 * into a body.
 */
export class GatewayError extends Error {
  readonly code: ErrorCode;
  readonly class: ErrorClass;
  readonly status: number;
  readonly param: string | undefined;
  readonly internal: string | undefined;
  readonly details: Readonly<Record<string, unknown>> | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly exceededLimit: ExceededLimit | undefined;
  readonly exceededSpend: ExceededSpend | undefined;

  constructor(code: ErrorCode, message: string, options: GatewayErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'GatewayError';
    this.code = code;
    this.class = errorCodes[code].class;
    this.status = options.status ?? errorCodes[code].status;
    this.param = options.param;
    this.internal = options.internal;
    this.details = options.details;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.headers = options.headers;
    this.exceededLimit = options.exceededLimit;
    this.exceededSpend = options.exceededSpend;
  }
}
