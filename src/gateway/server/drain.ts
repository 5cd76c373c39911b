import type { Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';

import { GatewayError } from '../../inference/gateway-error.ts';
import type { Gateway } from '../endpoints/gateway.ts';

/** How a server that has left goes on to its end. */
export type DrainPlan = {
  /** How long running calls may go on. */
  readonly graceMs: number;
  /**
   * What becomes of connections without a call. A client may be about to send on one that is closed, and such a call fails. `sweep` closes them as soon as they
   * are idle; `close` those that have been idle since before the server left, and keeps others for their client's next call; `expire` leaves them all the time that
   * their clients were promised.
   */
  readonly idle: 'sweep' | 'close' | 'expire';
};

/** The end of a server, from its readiness to its last connection. */
export type Drain = {
  /** From now on it is not ready and every answer asks its client to leave, so that balancers and clients go elsewhere by themselves. It still takes everything. */
  readonly leave: () => void;
  readonly isLeaving: () => boolean;
  /** Looks at a request that comes while the server leaves. @throws GatewayError `shutting_down` when the grace is over */
  readonly admit: (response: ServerResponse) => void;
  /** Takes no new connections. Resolves when none is left and all calls are settled. May be called again, with a plan that hastens the end. */
  readonly run: (plan: DrainPlan) => Promise<void>;
};

const second = 1000;
/** How long a connection is kept for its client's next call where its last answer began before the server left, and so could not say so. */
const lastIdleMs = 2 * second;
const sweepMs = 50;

/** Watches a server's connections. One message of the event loop per connection, nothing per call. */
export function createDrain(options: { readonly server: Server; readonly gateway: Pick<Gateway, 'deadlines' | 'drainSlots'> }): Drain {
  const { server, gateway } = options;
  const connections = new Set<Socket>();
  const closed = Promise.withResolvers<void>();
  /** What Node sets as the time-out of a connection that becomes idle, and of no other. */
  let idleTimeoutMs = 0;
  let leaving = false;
  let closing = false;
  let over = false;
  const lookForEnd = (): void => {
    if (closing && connections.size === 0) closed.resolve();
  };
  server.on('connection', (socket: Socket) => {
    connections.add(socket);
    socket.once('close', () => {
      connections.delete(socket);
      lookForEnd();
    });
  });

  const leave = (): void => {
    if (leaving) return;
    leaving = true;
    idleTimeoutMs = server.keepAliveTimeout + keepAliveBufferMs(server);
    server.keepAliveTimeout = lastIdleMs;
  };
  /** The HTTP server's own `close` cuts connections that are idle at that moment, on which a call may be on its way. */
  const stopListening = (): void => {
    closing = true;
    if (server.listening) NetServer.prototype.close.call(server);
    lookForEnd();
  };
  const closeIdleSinceBefore = (): void => {
    for (const socket of connections) if (socket.timeout === idleTimeoutMs) socket.end();
  };
  const terminate = (): void => {
    over = true;
    gateway.deadlines.forEach((exchange) => exchange.terminate(shuttingDown(streamEnded)));
    server.closeIdleConnections();
    // What a client has not read one second after the end of its call is given up with its connection.
    setTimeout(() => server.closeAllConnections(), second).unref();
  };

  return {
    leave,
    isLeaving: () => leaving,
    admit: (response) => {
      response.shouldKeepAlive = false;
      if (over) throw shuttingDown('the gateway is shutting down; send the request again');
    },
    run: async ({ graceMs, idle }) => {
      leave();
      stopListening();
      if (idle === 'close') closeIdleSinceBefore();
      if (idle === 'sweep') server.closeIdleConnections();
      const sweep = idle === 'sweep' ? setInterval(() => server.closeIdleConnections(), sweepMs) : undefined;
      const graceOver = setTimeout(terminate, graceMs);
      try {
        await closed.promise;
        gateway.drainSlots?.endAll();
      } finally {
        clearInterval(sweep);
        clearTimeout(graceOver);
      }
    },
  };
}

const streamEnded = 'Upstream connection error: the gateway is shutting down and the stream was terminated.';

function shuttingDown(message: string): GatewayError {
  return new GatewayError('shutting_down', message, { retryAfterSeconds: 1 });
}

/** Node keeps an idle connection a little longer than it promises. */
function keepAliveBufferMs(server: Server): number {
  return 'keepAliveTimeoutBuffer' in server && typeof server.keepAliveTimeoutBuffer === 'number' ? server.keepAliveTimeoutBuffer : 0;
}
