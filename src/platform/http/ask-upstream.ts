import type { UpstreamClient, UpstreamController, UpstreamRequest } from './upstream-client.ts';
import type { ReplyHeaders } from './reply-head.ts';

/** The whole answer of an upstream. */
export type Answer = {
  readonly status: number;
  readonly headers: ReplyHeaders;
  readonly body: Buffer;
  readonly tookMs: number;
};

/** A request that got no whole answer. `partial` is the part that was received. */
export class AskError extends Error {
  /** The code of the system, of TLS or of the client, or `TIMEOUT`, `TOO_LARGE` or `ABORTED`. */
  readonly code: string;
  readonly partial: Answer | undefined;
  constructor(code: string, message: string, partial: Answer | undefined) {
    super(message);
    this.name = 'AskError';
    this.code = code;
    this.partial = partial;
  }
}

export type AskLimits = {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** The longest answer. Default: 8 MiB, far more than the answer to any check. */
  readonly bodyBytesMax?: number;
};

const usualBytesMax = 8 * 1024 * 1024;

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : 'UNKNOWN';
}

/** The error of a request that its client could not finish. */
export function toAskError(error: Error): AskError {
  return error instanceof AskError ? error : new AskError(codeOf(error), error.message, undefined);
}

/**
 * Sends one request with the gateway's own client, and reads the whole answer, also of a stream.
 * @throws AskError when no whole answer came within the time, or the signal aborted
 */
export function askUpstream(
  client: UpstreamClient,
  request: UpstreamRequest,
  { timeoutMs, signal, bodyBytesMax = usualBytesMax }: AskLimits,
): Promise<Answer> {
  const startedMs = performance.now();
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const pieces: Buffer[] = [];
  let length = 0;
  let head: { readonly status: number; readonly headers: ReplyHeaders } | undefined;
  let steering: UpstreamController | undefined;
  const answer = (): Answer | undefined =>
    head === undefined ? undefined : { ...head, body: Buffer.concat(pieces), tookMs: performance.now() - startedMs };
  const settle = (): void => {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  };
  const fail = (code: string, message: string): void => {
    settle();
    reject(new AskError(code, message, answer()));
  };
  const giveUp = (code: string, message: string): void => {
    steering?.abort(new Error(message));
    fail(code, message);
  };
  const onAbort = (): void => giveUp('ABORTED', 'the request was aborted');
  const timer = setTimeout(() => giveUp('TIMEOUT', `no whole answer within ${timeoutMs} ms`), timeoutMs);
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort);
  if (signal.aborted) return promise;
  client.send(request, {
    onRequestStart: (controller) => (steering = controller),
    onResponseStart: (_controller, status, headers) => {
      if (status >= 200) head = { status, headers };
    },
    onResponseData: (_controller, piece) => {
      pieces.push(piece);
      length += piece.length;
      if (length > bodyBytesMax) giveUp('TOO_LARGE', `the answer is longer than ${bodyBytesMax} bytes`);
    },
    onResponseEnd: () => {
      settle();
      const whole = answer();
      if (whole === undefined) fail('UNKNOWN', 'the reply ended before it began');
      else resolve(whole);
    },
    onResponseError: (_controller, error) => fail(codeOf(error), error.message),
  });
  return promise;
}
