import type { IncomingMessage } from 'node:http';

/** The most bytes of a refused body that are read and discarded, and for how long. */
const restBytesMax = 4 * 1024 * 1024;
const restMsMax = 5000;
/** How long a client may read the answer after its connection has been ended. */
const readMsMax = 2000;

/**
 * Reads and discards the rest of a refused body, up to a limit. Many clients read the answer only after they have sent
 * everything, and closing a connection with unread bytes destroys the answer. Beyond the limit the connection is ended
 * after the answer, and closed a moment later. Call this after the answer was written.
 */
export function discardRest(request: IncomingMessage): void {
  if (request.complete || request.destroyed) return;
  const { socket } = request;
  let bytes = 0;
  const end = (): void => {
    clearTimeout(timer);
    request.off('data', count);
    request.pause();
    socket.end();
    setTimeout(() => socket.destroy(), readMsMax).unref();
  };
  const count = (piece: Buffer): void => {
    bytes += piece.length;
    if (bytes > restBytesMax) end();
  };
  const timer = setTimeout(end, restMsMax);
  timer.unref();
  request.once('close', () => clearTimeout(timer));
  request.once('end', () => clearTimeout(timer));
  request.on('data', count);
  request.resume();
}
