import { Socket } from 'node:net';

import type { Ipc } from './ipc.ts';
import type { PrimaryTopics } from './protocol.ts';

/** How often the primary learns how many connections there are, where that has changed without a new one. */
const countMs = 500;

/** The message that comes with a connection. */
export type Delivery = { readonly delivery: number };

function isDelivery(message: unknown): message is Delivery {
  return typeof message === 'object' && message !== null && 'delivery' in message;
}

/** Takes the connections that the primary sends, tells it that they arrived, and how many there are. */
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
      // As it is with a server's own connections: a client that has sent its request may end its side and read on.
      socket.allowHalfOpen = true;
      take(socket);
    }
    // Without a socket: its client was gone before it arrived.
    told = open;
    primary.tell('taken', { id: message.delivery, open });
  });
  setInterval(() => {
    if (open === told) return;
    told = open;
    primary.tell('open-connections', open);
  }, countMs).unref();
}
