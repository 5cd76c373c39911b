import type { IncomingMessage } from 'node:http';

import type { ProxyTest } from '../../../platform/http/client-address.ts';

/** The first value of a proxy's list: that of the client's own connection. */
function firstOf(field: string | readonly string[] | undefined): string {
  return (typeof field === 'string' ? field : (field?.[0] ?? '')).split(',', 1)[0]?.trim() ?? '';
}

/** A host in an address, with or without a port. */
const hostPattern = /^(?:[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/;

/**
 * The scheme and host under which clients reach the gateway, without a slash at the end: as configured, otherwise from
 * the request. Forwarded headers count only from a trusted proxy.
 */
export function publicBaseUrl(
  request: Pick<IncomingMessage, 'headers' | 'socket'>,
  { publicUrl, isProxy }: { readonly publicUrl: string | undefined; readonly isProxy: ProxyTest | undefined },
): string {
  if (publicUrl !== undefined) return publicUrl.replace(/\/+$/, '');
  const { headers, socket } = request;
  const isBehindProxy = socket.remoteAddress !== undefined && isProxy?.(socket.remoteAddress) === true;
  const forwardedHost = isBehindProxy ? firstOf(headers['x-forwarded-host']) : '';
  const forwardedScheme = isBehindProxy ? firstOf(headers['x-forwarded-proto']).toLowerCase() : '';
  const host = [forwardedHost, headers.host ?? ''].find((candidate) => hostPattern.test(candidate));
  const own = `${socket.localAddress?.includes(':') === true ? `[${socket.localAddress}]` : (socket.localAddress ?? 'localhost')}:${socket.localPort ?? 80}`;
  return `${forwardedScheme === 'https' ? 'https' : 'http'}://${host ?? own}`;
}
