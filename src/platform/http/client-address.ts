import type { IncomingMessage } from 'node:http';

/** Recognises the addresses of reverse proxies that are trusted to name their clients. */
export type ProxyTest = (address: string) => boolean;

/**
 * The client's address. Trusted proxies name it in `X-Forwarded-For`, which is read from its end: anyone could have
 * written the part before the first address that is not a trusted proxy.
 */
export function clientAddress(request: IncomingMessage, isProxy: ProxyTest | undefined): string | undefined {
  let address = request.socket.remoteAddress;
  if (isProxy === undefined || address === undefined) return address;
  const chain = String(request.headers['x-forwarded-for'] ?? '').split(',');
  while (isProxy(address)) {
    const named = withoutPort((chain.pop() ?? '').trim());
    if (named === '') return address;
    address = named;
  }
  return address;
}

/** Some proxies add the port: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
function withoutPort(text: string): string {
  return /^\[([^\]]*)\]/.exec(text)?.[1] ?? /^([0-9.]+):[0-9]+$/.exec(text)?.[1] ?? text;
}
