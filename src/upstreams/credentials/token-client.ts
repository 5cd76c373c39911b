import { setTimeout as delay } from 'node:timers/promises';

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
 * The pauses after which a service on this machine is asked again that has too many requests, or has only started. The
 * metadata services of all clouds ask their clients for it; a process that starts has no other credential meanwhile.
 */
const pausesMs = [100, 400] as const;

const isBusy = (status: number): boolean => status === 429 || status === 503;

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
    const ask = () => askUpstream(clientOf(origin, isLocal), request, { timeoutMs, signal, bodyBytesMax });
    let answer = await ask();
    for (const pauseMs of isLocal ? pausesMs : []) {
      if (!isBusy(answer.status)) break;
      await delay(pauseMs, undefined, { signal });
      answer = await ask();
    }
    return { status: answer.status, headers: answer.headers, body: answer.body.toString() };
  };
}
