import { askUpstream } from '../../platform/http/ask-upstream.ts';
import type { ReplyHeaders } from '../../platform/http/reply-head.ts';
import type { UpstreamClient, UpstreamRequest } from '../../platform/http/upstream-client.ts';

/** A request to a service that issues credentials. */
export type TokenRequest = {
  /** The whole address. */
  readonly url: string;
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Whether the service is on this machine or its link, so that no proxy leads to it. */
  readonly isLocal?: boolean;
  /** Longest time for the answer. Default: 5 seconds. */
  readonly timeoutMs?: number;
};

export type TokenReply = { readonly status: number; readonly headers: ReplyHeaders; readonly body: string };

/**
 * Asks a service that issues credentials. It follows no redirects: a credential would go with the request. Rejects with
 * an AskError if no whole answer came.
 */
export type TokenClient = (request: TokenRequest, signal: AbortSignal) => Promise<TokenReply>;

/** Far more than any document with a credential. */
const bodyBytesMax = 256 * 1024;

/**
 * Makes a client for token services of the connections of upstreams.
 * @param clientOf returns the connections of an origin
 */
export function createTokenClient(clientOf: (origin: string, isLocal: boolean) => UpstreamClient): TokenClient {
  return async ({ url, method, headers = {}, body, isLocal = false, timeoutMs = 5_000 }, signal) => {
    const { origin, pathname, search } = new URL(url);
    const request: UpstreamRequest = {
      path: pathname + search,
      method,
      headers: { accept: 'application/json', 'accept-encoding': 'identity', ...headers },
      body: body === undefined ? undefined : Buffer.from(body),
    };
    const answer = await askUpstream(clientOf(origin, isLocal), request, { timeoutMs, signal, bodyBytesMax });
    return { status: answer.status, headers: answer.headers, body: answer.body.toString() };
  };
}
