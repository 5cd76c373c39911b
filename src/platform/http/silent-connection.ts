import type { Duplex } from 'node:stream';

/**
 * Closes a connection without an answer if the time for the head of a request is over and nothing was ever sent. A pool
 * that connects in advance would read an answer as that to its next request, which it may be sending at this moment.
 * @param error the error that Node's server emits with `clientError`
 * @returns whether it was such a connection; then the caller has nothing more to do
 */
export function closeIfSilent(error: Error & { readonly code?: string }, socket: Duplex): boolean {
  if (error.code !== 'ERR_HTTP_REQUEST_TIMEOUT' || !isSilent(socket)) return false;
  // Node checks time limits before it reads what the system has received: a request that has arrived is served.
  setImmediate(() => {
    if (isSilent(socket)) socket.destroy();
  });
  return true;
}

function isSilent(socket: Duplex): boolean {
  return 'bytesRead' in socket && socket.bytesRead === 0;
}
