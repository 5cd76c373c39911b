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

export type MonitorErrorStatus = 400 | 401 | 404 | 405 | 408 | 413 | 415 | 431 | 500 | 503;

/** The contract's envelope around a refusal: the HTTP status again, the message, and no data. */
export function encodeRefusal(status: MonitorErrorStatus, message: string): string {
  return JSON.stringify({ code: status, message, data: null });
}
