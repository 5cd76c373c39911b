import { request as requestPlainly } from 'node:http';
import { request as requestSecurely } from 'node:https';
import { isIP, type Socket } from 'node:net';

import type { ProxyAddress } from './proxy-address.ts';

/** The proxy refused to connect. */
class ProxyRefusedError extends Error {
  readonly code = 'PROXY_REFUSED';
  readonly status: number;
  constructor(proxy: ProxyAddress, place: string, status: number) {
    super(
      `the proxy ${proxy.origin} refuses to connect to ${place} (status ${status}${status === 407 ? ': it requires a credential' : ''})`,
    );
    this.name = 'ProxyRefusedError';
    this.status = status;
  }
}

/** The proxy did not answer. */
class ProxyUnreachableError extends Error {
  readonly code = 'PROXY_UNREACHABLE';
  constructor(proxy: ProxyAddress, reason: string, cause?: unknown) {
    super(`the proxy ${proxy.origin} cannot be reached (${reason})`, { cause });
    this.name = 'ProxyUnreachableError';
  }
}

/** Where a tunnel leads. */
type TunnelEnd = { readonly host: string; readonly port: number };

/**
 * Requests a connection from a proxy (CONNECT). The caller may speak any protocol on it.
 * @throws ProxyRefusedError, ProxyUnreachableError
 */
export function openTunnel(proxy: ProxyAddress, { host, port }: TunnelEnd, timeoutMs: number): Promise<Socket> {
  const place = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const url = new URL(proxy.origin);
  const isSecure = url.protocol === 'https:';
  const proxyHost = url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
  const asked = (isSecure ? requestSecurely : requestPlainly)({
    host: proxyHost,
    port: url.port === '' ? (isSecure ? 443 : 80) : Number(url.port),
    ...(isSecure && isIP(proxyHost) === 0 ? { servername: proxyHost } : {}),
    method: 'CONNECT',
    path: place,
    agent: false,
    headers: { host: place, ...(proxy.authorization === undefined ? {} : { 'proxy-authorization': proxy.authorization }) },
  });
  const fail = (error: Error): void => {
    clearTimeout(timer);
    asked.destroy();
    reject(error);
  };
  const timer = setTimeout(() => fail(new ProxyUnreachableError(proxy, `no answer within ${timeoutMs} ms`)), timeoutMs);
  asked.once('connect', ({ statusCode = 0 }, socket, rest) => {
    if (statusCode < 200 || statusCode > 299) {
      socket.destroy();
      return fail(new ProxyRefusedError(proxy, place, statusCode));
    }
    clearTimeout(timer);
    if (rest.length > 0) socket.unshift(rest);
    resolve(socket);
  });
  asked.on('error', (error: NodeJS.ErrnoException) => fail(new ProxyUnreachableError(proxy, error.code ?? 'no connection', error)));
  asked.end();
  return promise;
}
