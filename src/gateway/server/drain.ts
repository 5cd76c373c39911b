import type { Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';

import { GatewayError } from '../../inference/gateway-error.ts';
import type { Gateway } from '../endpoints/gateway.ts';

/** How a server ends after it has begun to drain. */
export type DrainPlan = {
  /** How long running calls may continue. */
  readonly graceMs: number;
  /**
   * How connections without a call end. A client may just be sending on a connection that is closed, and that call
   * fails. `sweep` closes them as soon as they are idle; `close` closes those that were idle before the drain began,
   * and keeps others for their client's next call; `expire` leaves them the whole time that their clients were
   * promised.
   */
  readonly idle: 'sweep' | 'close' | 'expire';
};

/** The end of a server, from its readiness to its last connection. */
export type Drain = {
  /**
   * From now on the server is not ready, and every answer asks its client to disconnect, so that balancers and clients
   * move away. It still accepts everything.
   */
  readonly leave: () => void;
  readonly isLeaving: () => boolean;
  /**
   * Admits a request during the drain.
   * @throws GatewayError `shutting_down` after the grace
   */
  readonly admit: (response: ServerResponse) => void;
  /**
   * Accepts no new connections. Resolves when none is left and all calls are settled. May be called again, with a plan
   * that ends sooner.
   */
  readonly run: (plan: DrainPlan) => Promise<void>;
};

const second = 1000;
/**
 * How long a connection stays open for its client's next call if its last answer began before the drain, and so could
 * not announce it.
 */
const lastIdleMs = 2 * second;
const sweepMs = 50;

/** Watches a server's connections. One event for each connection, none for calls. */
export function createDrain(options: { readonly server: Server; readonly gateway: Pick<Gateway, 'deadlines' | 'drainSlots'> }): Drain {
  const { server, gateway } = options;
  const connections = new Set<Socket>();
  const closed = Promise.withResolvers<void>();
  /** The time-out that Node sets for idle connections, and for no others. */
  let idleTimeoutMs = 0;
  let leaving = false;
  let closing = false;
  let over = false;
  const lookForEnd = (): void => {
    if (closing && connections.size === 0) closed.resolve();
  };
  server.on('connection', (socket: Socket) => {
    connections.add(socket);
    socket.on('close', () => {
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
  /** The HTTP server's own `close` cuts idle connections, on which a call may just be arriving. */
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
    // The connection of a client that has not read its answer one second after its call is closed.
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
