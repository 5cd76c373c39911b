import { createUndiciClient } from '../../platform/http/undici-client.ts';
import { createUpstreamClient, type UpstreamClient, type UpstreamClientOptions } from '../../platform/http/upstream-client.ts';
import { chooseProxy } from './choose-proxy.ts';
import type { EnvironmentProxies } from './environment-proxies.ts';

/** The network settings of an upstream. */
export type Egress = { readonly proxy?: string | undefined; readonly http2?: boolean | undefined };

/** Opens connections to an upstream: with the gateway's own client, or with undici for a proxy or HTTP/2. */
export function openClient(options: UpstreamClientOptions, egress: Egress, proxies: EnvironmentProxies): UpstreamClient {
  const proxy = chooseProxy(options.origin, egress, proxies);
  if (proxy === undefined && egress.http2 !== true) return createUpstreamClient(options);
  return createUndiciClient({ ...options, proxy, http2: egress.http2 });
}
