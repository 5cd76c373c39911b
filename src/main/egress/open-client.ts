import { createUndiciClient } from '../../platform/http/undici-client.ts';
import { createUpstreamClient, type UpstreamClient, type UpstreamClientOptions } from '../../platform/http/upstream-client.ts';
import { chooseProxy } from './choose-proxy.ts';
import type { EnvironmentProxies } from './environment-proxies.ts';

/** How an upstream is to be reached, as its configuration says. */
export type Egress = { readonly proxy?: string | undefined; readonly http2?: boolean | undefined };

/** Opens connections to an upstream: with the gateway's own client, and with undici where a proxy or HTTP/2 is wanted. */
export function openClient(options: UpstreamClientOptions, egress: Egress, proxies: EnvironmentProxies): UpstreamClient {
  const proxy = chooseProxy(options.origin, egress, proxies);
  if (proxy === undefined && egress.http2 !== true) return createUpstreamClient(options);
  return createUndiciClient({ ...options, proxy, http2: egress.http2 });
}
