import { DeferredExchange } from './deferred-exchange.ts';
import type { UpstreamClient, UpstreamRequest } from './upstream-client.ts';

/**
 * Adds the credential to a request. It is called for every attempt with the request as it is about to be sent: method, path, headers and body, to which nothing is added
 * afterwards but `host` and `content-length`. A streamed body can be read, and is read again when it is sent. The signal is aborted when nobody waits any longer.
 */
export type Authorize = (request: UpstreamRequest, signal: AbortSignal) => UpstreamRequest | Promise<UpstreamRequest>;

/** A request could not be given its credential, so that it was not sent. */
class AuthorizationError extends Error {
  readonly code = 'AUTHORIZATION_FAILED';
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'AuthorizationError';
  }
}

/**
 * A client whose requests are authorized before they are sent. One that is authorized at once is sent at once. What fails, or is not done in time, ends its request
 * with an AuthorizationError; the message of its cause is not passed on, because it may name a credential.
 */
export function authorizeRequests(
  client: UpstreamClient,
  authorize: Authorize,
  { timeoutMs }: { readonly timeoutMs: number },
): UpstreamClient {
  /** Requests that wait to be authorized: they are running for whoever closes the client. */
  const waiting = new Set<Promise<void>>();
  const sendLater = async (authorized: Promise<UpstreamRequest>, exchange: DeferredExchange, end: AbortController): Promise<void> => {
    const { promise, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => reject(new AuthorizationError(`no credential within ${timeoutMs} ms`)), timeoutMs);
    const onLeft = (): void => reject(new AuthorizationError('the request was given up'));
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
