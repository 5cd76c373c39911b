import type { IncomingMessage } from 'node:http';

import { GatewayError } from '../../inference/gateway-error.ts';

/** A name or an address, and a port: nothing that could be read as a path, a query or a user. */
const hostPattern = /^(?:[A-Za-z0-9._-]*|\[[0-9A-Fa-f:.]+\])(?::[0-9]{0,5})?$/;

/**
 * Refuses a request with two `Host` headers, of which Node hides the second, or one that is no host. Nothing here is decided by it; whoever stands between may decide
 * by the one and take it for the other.
 * @throws GatewayError `invalid_host`
 */
export function checkHost({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): void {
  let seen = false;
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    if (name.length !== 4 || name.toLowerCase() !== 'host') continue;
    if (seen) throw new GatewayError('invalid_host', 'the request has two Host headers; send one');
    seen = true;
    if (!hostPattern.test(rawHeaders[index + 1] ?? ''))
      throw new GatewayError('invalid_host', 'the Host header is no host name with an optional port');
  }
}
