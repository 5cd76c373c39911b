/** A refusal in the monitor's envelope. The message is for the caller; the cause is for the log. */
export class MonitorError extends Error {
  readonly status: MonitorErrorStatus;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: MonitorErrorStatus, message: string, options: { headers?: Readonly<Record<string, string>>; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'MonitorError';
    this.status = status;
    this.headers = options.headers ?? {};
  }
}

export type MonitorErrorStatus = 400 | 401 | 404 | 405 | 408 | 413 | 415 | 429 | 431 | 500 | 503;

/** The contract's envelope for a refusal: the HTTP status again, the message, and null as data. */
export function encodeRefusal(status: MonitorErrorStatus, message: string): string {
  return JSON.stringify({ code: status, message, data: null });
}

/** A 503: a retry may succeed a moment later. */
export function unavailable(message: string, cause?: unknown): MonitorError {
  return new MonitorError(503, message, { headers: { 'retry-after': '1' }, cause });
}

/** A 429: the caller sends too many requests. */
export function tooManyRequests(message: string, retryAfterSeconds: number): MonitorError {
  return new MonitorError(429, message, { headers: { 'retry-after': String(retryAfterSeconds) } });
}
