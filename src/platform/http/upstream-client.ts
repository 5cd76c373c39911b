import { type Dispatcher, Pool } from 'undici';

/** One HTTP request to an upstream. `path` includes the query. */
export type UpstreamRequest = {
  readonly path: string;
  readonly method: 'POST' | 'GET';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
};

/** Connections to one upstream's origin. */
export type UpstreamClient = {
  /** Sends; the handler hears of everything that follows. Never throws: a failure is the handler's `onResponseError`. */
  readonly send: (request: UpstreamRequest, handler: Dispatcher.DispatchHandler) => void;
  /** Lets running requests finish and takes no more. */
  readonly close: () => Promise<void>;
};

export type UpstreamClientOptions = {
  readonly origin: string;
  readonly connectTimeoutMs: number;
  /** Reply headers larger than this end the call with an error. */
  readonly headerBytesMax: number;
};

/**
 * Opens a connection pool. Redirects are not followed, nothing is retried and HTTP/2 is off: the exchange decides about such things.
 * undici's own time limits are off because the exchange has finer ones.
 */
export function createUpstreamClient(options: UpstreamClientOptions): UpstreamClient {
  const pool = new Pool(options.origin, {
    connections: null,
    pipelining: 1,
    allowH2: false,
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: 30_000,
    maxHeaderSize: options.headerBytesMax,
    connect: { timeout: options.connectTimeoutMs },
  });
  return {
    send: (request, handler) => {
      pool.dispatch(
        { path: request.path, method: request.method, headers: request.headers as Record<string, string>, body: request.body ?? null },
        handler,
      );
    },
    close: () => pool.close(),
  };
}
