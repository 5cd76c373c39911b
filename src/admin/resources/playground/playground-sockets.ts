import { setTimeout as delay } from 'node:timers/promises';

import { openRelaySocket, type RefusedSocket, type RelaySocket } from '../../../platform/http/relay-socket.ts';
import type { RelayLimits } from '../../../platform/http/relay-request.ts';
import { membersOf } from '../../../platform/json/json-readers.ts';
import { parseIfJson } from '../../../platform/json/parse-if-json.ts';
import { AdminProblem } from '../../problem.ts';
import { headersToGateway } from './passing-headers.ts';

/** The one interface of the gateway that speaks over a WebSocket. */
const socketPath = '/v1/responses';

type SocketLimits = RelayLimits & {
  /** Connections of a session at a time, those that wait included, and of the console. */
  readonly ofSession: number;
  readonly ofAll: number;
  /** How long a connection waits for its next message. */
  readonly idleMs: number;
};

type SocketMessage = {
  readonly origin: URL;
  readonly secret: string;
  readonly sessionId: string;
  /** A name of the connection, which belongs to the session. A message on a new name opens one. */
  readonly connection: string;
  /** The message as it is sent: one frame. */
  readonly text: string;
};

/** The frames that answer a message, or why the gateway opened no connection. */
export type SocketAnswer = { readonly frames: AsyncIterable<string> } | RefusedSocket;

/** WebSockets to the gateway. Each answers one message at a time, and stays open for the next one. */
export type PlaygroundSockets = {
  /** @throws AdminProblem, RelayError */
  readonly send: (message: SocketMessage, signal: AbortSignal) => Promise<SocketAnswer>;
  readonly close: () => void;
};

type Connection = { readonly sessionId: string; socket: RelaySocket | undefined; isBusy: boolean; idle?: NodeJS.Timeout };

export function createPlaygroundSockets(limits: SocketLimits): PlaygroundSockets {
  const connections = new Map<string, Connection>();

  /** Closes the longest idle connection where there are too many. */
  function makeRoom(sessionId: string): void {
    const own = [...connections].filter(([, each]) => each.sessionId === sessionId);
    if (own.length < limits.ofSession && connections.size < limits.ofAll) return;
    const idle = (own.length < limits.ofSession ? [...connections] : own).find(([, { isBusy }]) => !isBusy);
    if (idle === undefined)
      throw new AdminProblem('too_many_requests', 'Too many connections of the playground are under way; wait for one, or end one.', {
        headers: { 'retry-after': '1' },
      });
    end(...idle);
  }

  function end(name: string, connection: Connection): void {
    if (connections.get(name) === connection) connections.delete(name);
    clearTimeout(connection.idle);
    connection.socket?.close();
  }

  /** The connection of this name, for one message. */
  function take(name: string, sessionId: string): Connection {
    const known = connections.get(name);
    if (known?.isBusy === true) throw new AdminProblem('conflict', 'This connection is answering another message; wait until it ends.');
    if (known?.socket?.isOpen() === true) {
      clearTimeout(known.idle);
      connections.delete(name);
      connections.set(name, known);
      known.isBusy = true;
      return known;
    }
    if (known !== undefined) end(name, known);
    makeRoom(sessionId);
    const made: Connection = { sessionId, socket: undefined, isBusy: true };
    connections.set(name, made);
    return made;
  }

  return {
    send: async ({ origin, secret, sessionId, connection: given, text }, signal) => {
      const name = `${sessionId} ${given}`;
      const connection = take(name, sessionId);
      try {
        if (connection.socket === undefined) {
          const opened = await openRelaySocket(origin, { target: socketPath, headers: headersToGateway({}, secret) }, limits, signal);
          if ('status' in opened) {
            end(name, connection);
            return opened;
          }
          connection.socket = opened;
        }
        const { socket } = connection;
        // Also if nobody begins to read.
        const stop = (): void => end(name, connection);
        signal.addEventListener('abort', stop, { once: true });
        if (signal.aborted) stop();
        const release = (): void => {
          signal.removeEventListener('abort', stop);
          if (socket.isOpen()) connection.idle = setTimeout(stop, limits.idleMs).unref();
          else stop();
        };
        return { frames: read(connection, socket, text, release) };
      } catch (error) {
        end(name, connection);
        throw error;
      }
    },
    close: () => {
      for (const [name, connection] of connections) end(name, connection);
    },
  };
}

/** The frames that answer a text, after which the connection is free. */
async function* read(connection: Connection, socket: RelaySocket, text: string, release: () => void): AsyncGenerator<string> {
  try {
    yield* socket.exchange(text, isLastEvent);
  } finally {
    connection.isBusy = false;
    release();
  }
}

const lastEvents: ReadonlySet<unknown> = new Set(['response.completed', 'response.incomplete', 'response.failed', 'error']);
const mayBeLast = /"(?:response\.(?:completed|incomplete|failed)|error)"/;

/** Whether a connection waits for its next message after this frame. */
const isLastEvent = (frame: string): boolean => mayBeLast.test(frame) && lastEvents.has(membersOf(parseIfJson(frame))['type']);

/** A connection without bytes for a minute is closed, and a model may think for longer. */
const quietMsMax = 15_000;

/** Frames of a WebSocket as server-sent events, which a page reads as it reads those of a stream. */
export async function* framesAsEvents(frames: AsyncIterable<string>): AsyncGenerator<string> {
  const source = frames[Symbol.asyncIterator]();
  try {
    // The headers leave with the first bytes.
    yield ': connected\n\n';
    for (let next = source.next(); ;) {
      const pause = new AbortController();
      const quiet = delay(quietMsMax, undefined, { signal: pause.signal, ref: false }).catch(() => undefined);
      const first = await Promise.race([next, quiet]);
      pause.abort();
      if (first === undefined) yield ': quiet\n\n';
      else if (first.done === true) return;
      else {
        yield `${first.value.replaceAll(/^/gm, 'data: ')}\n\n`;
        next = source.next();
      }
    }
  } finally {
    // Not awaited: it waits for the gateway, which the end of the request stops.
    void source.return?.();
  }
}
