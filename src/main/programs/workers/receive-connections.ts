import { Socket } from 'node:net';

import type { Ipc } from './ipc.ts';
import type { PrimaryTopics } from './protocol.ts';

/** Interval in which the primary gets the number of connections, if it has changed without a new one. */
const countMs = 500;

/** The message with a connection. */
export type Delivery = { readonly delivery: number };

function isDelivery(message: unknown): message is Delivery {
  return typeof message === 'object' && message !== null && 'delivery' in message;
}

/** Receives connections from the primary, confirms them, and reports their number. */
export function receiveConnections(options: {
  readonly take: (socket: Socket) => void;
  readonly primary: Pick<Ipc<PrimaryTopics>, 'tell'>;
}): void {
  const { take, primary } = options;
  let open = 0;
  let told = 0;
  process.on('message', (message: unknown, socket: unknown) => {
    if (!isDelivery(message)) return;
    if (socket instanceof Socket) {
      open += 1;
      socket.once('close', () => {
        open -= 1;
      });
      // As for a server's own connections: a client may end its side after the request, and still read.
      socket.allowHalfOpen = true;
      take(socket);
    }
    // There is no socket if the client disconnected before it arrived.
    told = open;
    primary.tell('taken', { id: message.delivery, open });
  });
  setInterval(() => {
    if (open === told) return;
    told = open;
    primary.tell('open-connections', open);
  }, countMs).unref();
}
