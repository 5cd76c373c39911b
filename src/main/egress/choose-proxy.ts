import { parseProxyAddress, type ProxyAddress } from '../../platform/http/proxy-address.ts';
import { type EnvironmentProxies, proxyFor } from './environment-proxies.ts';

/** The value for an upstream without a proxy, even if the environment names one. */
export const noProxy = 'none';

/** The proxy of an upstream: its own, else that of the environment. */
export function chooseProxy(
  origin: string,
  { proxy }: { readonly proxy?: string | undefined },
  proxies: EnvironmentProxies,
): ProxyAddress | undefined {
  if (proxy === noProxy) return undefined;
  return proxy === undefined ? proxyFor(origin, proxies) : parseProxyAddress(proxy);
}
