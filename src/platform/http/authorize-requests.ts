import { DeferredExchange } from './deferred-exchange.ts';
import type { UpstreamClient, UpstreamRequest } from './upstream-client.ts';

/**
 * Adds the credential to a request. It is called for every attempt with the request as it will be sent: method, path,
 * headers and body. Only `host` and `content-length` are added afterwards. A streamed body can be read here, and is
 * read again when it is sent. The signal aborts when no caller waits any longer.
 */
export type Authorize = (request: UpstreamRequest, signal: AbortSignal) => UpstreamRequest | Promise<UpstreamRequest>;

/** The credential could not be added to a request, so the request was not sent. */
class AuthorizationError extends Error {
  readonly code = 'AUTHORIZATION_FAILED';
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'AuthorizationError';
  }
}

/**
 * A client whose requests are authorized before they are sent. After a synchronous authorization the request is sent at
 * once. A failed or late authorization ends the request with an AuthorizationError. The message of its cause is not
 * passed on, because it may contain a credential.
 */
export function authorizeRequests(
  client: UpstreamClient,
  authorize: Authorize,
  { timeoutMs }: { readonly timeoutMs: number },
): UpstreamClient {
  /** Requests that wait for authorization. `close` waits for them. */
  const waiting = new Set<Promise<void>>();
  const sendLater = async (authorized: Promise<UpstreamRequest>, exchange: DeferredExchange, end: AbortController): Promise<void> => {
    const { promise, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => reject(new AuthorizationError(`no credential within ${timeoutMs} ms`)), timeoutMs);
    const onLeft = (): void => reject(new AuthorizationError('the request was aborted'));
    exchange.signal.addEventListener('abort', onLeft, { once: true });
    if (exchange.isOver) onLeft();
    try {
      const request = await Promise.race([authorized, promise]);
      if (!exchange.isOver) client.send(request, exchange);
    } catch (error) {
      end.abort(error);
      exchange.fail(asAuthorizationError(error));
    } finally {
      clearTimeout(timer);
      exchange.signal.removeEventListener('abort', onLeft);
    }
  };
  return {
    send: (request, handler) => {
      const end = new AbortController();
      let authorized: UpstreamRequest | Promise<UpstreamRequest>;
      try {
        authorized = authorize(request, end.signal);
      } catch (error) {
        const exchange = new DeferredExchange(handler);
        return queueMicrotask(() => exchange.fail(asAuthorizationError(error)));
      }
      if (!(authorized instanceof Promise)) return client.send(authorized, handler);
      const sending = sendLater(authorized, new DeferredExchange(handler), end).finally(() => waiting.delete(sending));
      waiting.add(sending);
    },
    close: async () => {
      await Promise.all(waiting);
      await client.close();
    },
    base: client,
  };
}

function asAuthorizationError(error: unknown): AuthorizationError {
  return error instanceof AuthorizationError ? error : new AuthorizationError('the credential could not be added', error);
}
