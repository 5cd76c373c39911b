import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

import type { Clock } from '../clock.ts';
import { createSlotList } from '../slot-list.ts';

/** The lowest rate at which a body may arrive. */
export type MinimumBodyRate = {
  /** In each window at least `bytesMin` must arrive, until the body is whole. The first window begins with the head. */
  readonly windowMs: number;
  readonly bytesMin: number;
  /** The longest time for the whole body. */
  readonly totalMs: number;
};

export type SlowBody = { readonly request: IncomingMessage; readonly response: ServerResponse; readonly reason: string };

export type ConnectionGuard = {
  /** Reports that a request has begun on its connection. */
  readonly begin: (request: IncomingMessage, response: ServerResponse) => void;
  readonly close: () => void;
};

/** A client connection and the current request on it. */
type Connection = {
  readonly socket: Socket;
  request: IncomingMessage | undefined;
  response: ServerResponse | undefined;
  /**
   * The request to which the figures below belong. They are set at the first check, so that a request that ends before
   * costs nothing.
   */
  seen: IncomingMessage | undefined;
  beganMs: number;
  windowMs: number;
  windowBytes: number;
};

/**
 * Limits how slowly clients send the body of a request. Node limits only the total time: a client that sends a byte per
 * second would hold its connection, and the memory for it, as long as a large body may take. One timer checks all
 * connections.
 * @param options.onSlow answers the request and ends its connection
 */
export function guardConnections(
  server: Server,
  options: {
    readonly clock: Clock;
    readonly pace: MinimumBodyRate;
    readonly tickMs: number;
    /** The most open connections, read at each tick. Further ones are closed at once. */
    readonly connectionsMax: () => number;
    readonly onSlow: (slow: SlowBody) => void;
  },
): ConnectionGuard {
  const { clock, pace, onSlow } = options;
  const all = createSlotList<Connection>();
  const connections = new WeakMap<Socket, Connection>();
  server.maxConnections = options.connectionsMax();
  server.on('connection', (socket) => {
    const none = { request: undefined, response: undefined, seen: undefined };
    const connection: Connection = { socket, ...none, beganMs: 0, windowMs: 0, windowBytes: 0 };
    connections.set(socket, connection);
    const slot = all.add(connection);
    socket.on('close', () => all.remove(slot));
  });
  const timer = setInterval(() => {
    server.maxConnections = options.connectionsMax();
    const nowMs = clock.monotonicMs();
    all.forEach((connection) => {
      const slow = findSlowBody(connection, nowMs, pace);
      if (slow !== undefined) onSlow(slow);
    });
  }, options.tickMs);
  timer.unref();
  return {
    begin: (request, response) => {
      const connection = connections.get(request.socket);
      if (connection === undefined) return;
      connection.request = request;
      connection.response = response;
    },
    close: () => clearInterval(timer),
  };
}

function findSlowBody(connection: Connection, nowMs: number, pace: MinimumBodyRate): SlowBody | undefined {
  const { socket, request, response } = connection;
  if (request === undefined || response === undefined) return undefined;
  if (request.complete) {
    // A finished request is released, although its connection stays open.
    connection.request = undefined;
    connection.response = undefined;
    connection.seen = undefined;
    return undefined;
  }
  if (connection.seen !== request) {
    connection.seen = request;
    connection.beganMs = nowMs;
    connection.windowMs = nowMs;
    connection.windowBytes = socket.bytesRead;
    return undefined;
  }
  if (nowMs - connection.beganMs >= pace.totalMs)
    return endWatch(connection, { request, response, reason: `the body was not whole after ${pace.totalMs / 1000} seconds` });
  if (nowMs - connection.windowMs < pace.windowMs) return undefined;
  const bytes = socket.bytesRead - connection.windowBytes;
  connection.windowMs = nowMs;
  connection.windowBytes = socket.bytesRead;
  if (bytes >= pace.bytesMin) return undefined;
  const reason = `of the body came ${bytes} bytes in ${pace.windowMs / 1000} seconds, and at least ${pace.bytesMin} are expected`;
  return endWatch(connection, { request, response, reason });
}

function endWatch(connection: Connection, slow: SlowBody): SlowBody {
  connection.request = undefined;
  connection.response = undefined;
  connection.seen = undefined;
  return slow;
}
