import { waitFor } from '../wait-for.ts';
import { DeferredExchange } from './deferred-exchange.ts';
import { RenewableExchange } from './renewable-exchange.ts';
import type { ReplyHeaders } from './reply-head.ts';
import type { UpstreamClient, UpstreamHandler, UpstreamRequest } from './upstream-client.ts';

/**
 * Adds the credential to a request. It is called for every attempt with the request as it will be sent: method, path,
 * headers and body. Only `host` and `content-length` are added afterwards. A streamed body can be read here, and is
 * read again when it is sent. The signal aborts when no caller waits any longer.
 */
export type Authorize = (request: UpstreamRequest, signal: AbortSignal) => UpstreamRequest | Promise<UpstreamRequest>;

/**
 * Looks at the head of an answer. Undefined if the credential was not refused; otherwise whether another credential is
 * at hand, with which the request is sent once more.
 */
export type Renew = (sent: UpstreamRequest, status: number, headers: ReplyHeaders, signal: AbortSignal) => Promise<boolean> | undefined;

/** The credential could not be added to a request, so the request was not sent. */
class AuthorizationError extends Error {
  readonly code = 'AUTHORIZATION_FAILED';
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'AuthorizationError';
  }
}

type AuthorizeOptions = {
  /** The longest time of an authorization. */
  readonly timeoutMs: number;
  /** Lets a request with a refused credential be sent once more; not one with a streamed body. */
  readonly renew?: Renew;
};

/**
 * A client whose requests are authorized before they are sent. After a synchronous authorization the request is sent at
 * once. A failed or late authorization ends the request with an AuthorizationError. The message of its cause is not
 * passed on, because it may contain a credential.
 */
export function authorizeRequests(client: UpstreamClient, authorize: Authorize, options: AuthorizeOptions): UpstreamClient {
  const authorizing = new AuthorizingClient(client, authorize, options);
  return {
    send: (request, handler) => authorizing.send(request, handler),
    close: async () => {
      await authorizing.settled();
      await client.close();
    },
    base: client,
  };
}

type SendNow = (request: UpstreamRequest) => void;

class AuthorizingClient {
  readonly #client: UpstreamClient;
  readonly #authorize: Authorize;
  readonly #options: AuthorizeOptions;
  /** Requests that wait for authorization. `close` waits for them. */
  readonly #waiting = new Set<Promise<void>>();

  constructor(client: UpstreamClient, authorize: Authorize, options: AuthorizeOptions) {
    this.#client = client;
    this.#authorize = authorize;
    this.#options = options;
  }

  async settled(): Promise<void> {
    await Promise.all(this.#waiting);
  }

  send(request: UpstreamRequest, handler: UpstreamHandler): void {
    const { renew } = this.#options;
    if (renew !== undefined && request.streamedBody === undefined)
      return this.#sendRenewable(request, new DeferredExchange(handler), renew);
    let exchange: DeferredExchange | undefined;
    const deferred = (): DeferredExchange => (exchange ??= new DeferredExchange(handler));
    this.#authorizeFor(request, deferred, (authorized) => this.#client.send(authorized, exchange ?? handler));
  }

  #sendRenewable(request: UpstreamRequest, exchange: DeferredExchange, look: Renew): void {
    const again = (): void =>
      this.#authorizeFor(
        request,
        () => exchange,
        (authorized) => this.#client.send(authorized, exchange),
      );
    const { timeoutMs } = this.#options;
    this.#authorizeFor(
      request,
      () => exchange,
      (sent) => {
        const renewal = (status: number, headers: ReplyHeaders): Promise<boolean> | undefined => {
          const found = look(sent, status, headers, exchange.signal);
          return found === undefined ? undefined : waitFor(found, timeoutMs, exchange.signal);
        };
        this.#client.send(sent, new RenewableExchange(exchange, renewal, again, (work) => this.#track(work)));
      },
    );
  }

  /** @param exchange called if the request must wait, or fails */
  #authorizeFor(request: UpstreamRequest, exchange: () => DeferredExchange, sendNow: SendNow): void {
    const end = new AbortController();
    let authorized: UpstreamRequest | Promise<UpstreamRequest>;
    try {
      authorized = this.#authorize(request, end.signal);
    } catch (error) {
      const failed = exchange();
      return queueMicrotask(() => failed.fail(asAuthorizationError(error)));
    }
    if (authorized instanceof Promise) this.#track(this.#sendLater(authorized, exchange(), end, sendNow));
    else sendNow(authorized);
  }

  async #sendLater(
    authorized: Promise<UpstreamRequest>,
    exchange: DeferredExchange,
    end: AbortController,
    sendNow: SendNow,
  ): Promise<void> {
    const { timeoutMs } = this.#options;
    const { promise, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => reject(new AuthorizationError(`no credential within ${timeoutMs} ms`)), timeoutMs);
    const onLeft = (): void => reject(new AuthorizationError('the request was aborted'));
    exchange.signal.addEventListener('abort', onLeft, { once: true });
    if (exchange.isOver) onLeft();
    try {
      const request = await Promise.race([authorized, promise]);
      if (!exchange.isOver) sendNow(request);
    } catch (error) {
      end.abort(error);
      exchange.fail(asAuthorizationError(error));
    } finally {
      clearTimeout(timer);
      exchange.signal.removeEventListener('abort', onLeft);
    }
  }

  #track(work: Promise<void>): void {
    const tracked = work.finally(() => this.#waiting.delete(tracked));
    this.#waiting.add(tracked);
  }
}

function asAuthorizationError(error: unknown): AuthorizationError {
  return error instanceof AuthorizationError ? error : new AuthorizationError('the credential could not be added', error);
}
