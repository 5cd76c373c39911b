import type { Dispatcher } from 'undici';

import { loadUndici } from '../../platform/http/load-undici.ts';
import { type EnvironmentProxies, proxyFor } from './environment-proxies.ts';

/** Sends a request as the global `fetch` does. */
export type Fetch = (url: string | URL, init: Omit<RequestInit, 'dispatcher'>) => Promise<Response>;

/** A `fetch` that uses the proxies of the environment. It rejects as the global one does. */
export function createFetch(proxies: EnvironmentProxies): Fetch {
  const dispatchers = new Map<string, Dispatcher>();
  return async (url, init) => {
    const { fetch, ProxyAgent } = await loadUndici();
    const proxy = proxyFor(new URL(url).origin, proxies);
    let dispatcher = proxy === undefined ? undefined : dispatchers.get(proxy.origin);
    if (proxy !== undefined && dispatcher === undefined) {
      const { origin: uri, authorization: token } = proxy;
      dispatcher = new ProxyAgent({ uri, ...(token === undefined ? {} : { token }) });
      dispatchers.set(uri, dispatcher);
    }
    const { status, headers, body } = await fetch(url, { ...init, ...(dispatcher === undefined ? {} : { dispatcher }) });
    return new Response(body, { status, headers: [...headers] });
  };
}
