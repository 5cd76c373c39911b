import type { Duplex } from 'node:stream';

/**
 * Closes a connection without a word where the time for a request's head ran out and nothing was ever sent. Such a client asked nothing: a pool that connects ahead would take
 * an answer for that to its next request, which it may be sending at this moment.
 * @param error what Node's server tells with `clientError`
 * @returns whether this is such a connection; there is nothing else to do with it
 */
export function closeIfSilent(error: Error & { readonly code?: string }, socket: Duplex): boolean {
  if (error.code !== 'ERR_HTTP_REQUEST_TIMEOUT' || !isSilent(socket)) return false;
  // Time-outs come before what the system has received meanwhile: a request that is among it is served.
  setImmediate(() => {
    if (isSilent(socket)) socket.destroy();
  });
  return true;
}

function isSilent(socket: Duplex): boolean {
  return 'bytesRead' in socket && socket.bytesRead === 0;
}
