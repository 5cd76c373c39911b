import type { IncomingMessage } from 'node:http';

/** What is taken of a body that nobody wants any more, and how long. */
const restBytesMax = 4 * 1024 * 1024;
const restMsMax = 5000;
/** What a client has to read the answer once its connection has been ended. */
const readMsMax = 2000;

/**
 * Throws away what still comes of a body that was refused, for a while: many clients read their answer only when they have sent everything, and a connection that is
 * closed over unread bytes takes the answer with it. What is longer is not waited for: the connection's sending side ends behind the answer, nothing more is
 * read, and a moment later it is closed. To be called when the answer has been written.
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
