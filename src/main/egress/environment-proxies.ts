import { compileAddressList } from '../../platform/http/address-list.ts';
import { parseProxyAddress, type ProxyAddress } from '../../platform/http/proxy-address.ts';

/** The proxies that the environment names. */
export type EnvironmentProxies = {
  /** For upstreams at https addresses. */
  readonly https?: ProxyAddress;
  /** For upstreams at http addresses. */
  readonly http?: ProxyAddress;
  /**
   * Hosts that are reached directly: names, `.suffixes`, addresses and networks, each with or without a port, and `*`
   * for all.
   */
  readonly direct: readonly string[];
};

/** The value of a variable is not the address of a proxy. The message omits the value, which may contain a password. */
export class ProxyVariableError extends Error {
  constructor(name: string) {
    super(`${name} must be the address of a proxy, such as http://proxy.example:3128`);
    this.name = 'ProxyVariableError';
  }
}

/**
 * Reads `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`; lower case wins, as in other programs.
 * @throws ProxyVariableError
 */
export function readEnvironmentProxies(variable: (name: string) => string | undefined): EnvironmentProxies {
  const read = (name: string): ProxyAddress | undefined => {
    const found = [name.toLowerCase(), name].find((each) => variable(each) !== undefined);
    if (found === undefined) return undefined;
    const proxy = parseProxyAddress(variable(found) ?? '');
    if (proxy === undefined) throw new ProxyVariableError(found);
    return proxy;
  };
  const https = read('HTTPS_PROXY');
  const http = read('HTTP_PROXY');
  const direct = (variable('no_proxy') ?? variable('NO_PROXY') ?? '').split(/[\s,]+/).filter((entry) => entry !== '');
  return { ...(https === undefined ? {} : { https }), ...(http === undefined ? {} : { http }), direct };
}

const isLoopback = compileAddressList(['127.0.0.0/8', '::1']);

/** The proxy that the environment names for an origin. This machine itself is never reached through one. */
export function proxyFor(origin: string, { https, http, direct }: EnvironmentProxies): ProxyAddress | undefined {
  const { protocol, hostname, port } = new URL(origin);
  const proxy = protocol === 'https:' ? https : http;
  const host = hostname.replace(/^\[|\]$/g, '');
  if (proxy === undefined || host === 'localhost' || host.endsWith('.localhost') || isLoopback(host)) return undefined;
  const actualPort = port === '' ? (protocol === 'https:' ? '443' : '80') : port;
  return direct.some((entry) => covers(entry.toLowerCase(), host, actualPort)) ? undefined : proxy;
}

function covers(entry: string, host: string, port: string): boolean {
  if (entry === '*') return true;
  const [, bracketed, plain, entryPort] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?$/.exec(entry) ?? [];
  // A text with several colons and no brackets is an IPv6 address without a port.
  const name = bracketed ?? plain ?? entry;
  if (entryPort !== undefined && entryPort !== port) return false;
  if (compileAddressList([name])(host)) return true;
  const suffix = name.replace(/^\*?\./, '');
  return host === suffix || host.endsWith(`.${suffix}`);
}
