import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';

import { WebSocket } from 'ws';

import { RelayError, type RelayLimits } from './relay-request.ts';

/** A WebSocket to one server, on which one text is sent at a time and its answers are read. */
export type RelaySocket = {
  readonly isOpen: () => boolean;
  /**
   * Sends a text, and yields the answers until `isLast` says so of one. They arrive no faster than they are read.
   * @throws RelayError if the connection ends before; the socket is closed then
   */
  readonly exchange: (text: string, isLast: (received: string) => boolean) => AsyncGenerator<string>;
  /** Ends the connection at once. */
  readonly close: () => void;
};

/** What a server answers in HTTP that does not open a WebSocket. */
export type RefusedSocket = { readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: string };

const refusalCharactersMax = 64 * 1024;
/** The most texts that wait for their reader. */
const waitingMax = 64;

/**
 * Opens a WebSocket to a server.
 * @param target path and query, which begin with a slash, so that they cannot name another host
 * @throws RelayError, or the reason of the signal
 */
export function openRelaySocket(
  origin: URL,
  { target, headers }: { readonly target: string; readonly headers: OutgoingHttpHeaders },
  limits: RelayLimits,
  signal: AbortSignal,
): Promise<RelaySocket | RefusedSocket> {
  const { promise, resolve, reject } = Promise.withResolvers<RelaySocket | RefusedSocket>();
  const address = `${origin.protocol === 'https:' ? 'wss:' : 'ws:'}//${origin.host}${target}`;
  const socket = new WebSocket(address, {
    headers: headers as Record<string, string>,
    handshakeTimeout: limits.connectMs,
    maxPayload: limits.replyBytesMax,
    // It would cost tens of kilobytes for each connection.
    perMessageDeflate: false,
  });
  const stop = (): void => {
    reject(signal.reason instanceof Error ? signal.reason : new Error('the request was aborted'));
    socket.terminate();
  };
  signal.addEventListener('abort', stop, { once: true });
  const opened = (): void => signal.removeEventListener('abort', stop);
  // Each failure also closes it, and ends the wait of its reader.
  socket.on('error', (cause) => {
    opened();
    reject(new RelayError('unreachable', cause.message, { cause }));
  });
  socket.on('unexpected-response', (_request, reply) => {
    let body = '';
    // Its beginning is the answer then.
    const silent = setTimeout(() => reply.destroy(), limits.silenceMs);
    reply.setEncoding('utf8');
    reply.on('data', (piece: string) => {
      body = (body + piece).slice(0, refusalCharactersMax);
    });
    reply.on('close', () => {
      clearTimeout(silent);
      opened();
      resolve({ status: reply.statusCode ?? 502, headers: reply.headers, body });
      socket.terminate();
    });
  });
  socket.once('open', () => {
    opened();
    resolve(createRelaySocket(socket, limits));
  });
  if (signal.aborted) stop();
  return promise;
}

function createRelaySocket(socket: WebSocket, limits: RelayLimits): RelaySocket {
  const received: string[] = [];
  let wake: (() => void) | undefined;
  const total = setTimeout(() => socket.terminate(), limits.totalMs).unref();
  socket.on('message', (data: Buffer) => {
    received.push(data.toString());
    if (received.length >= waitingMax) socket.pause();
    wake?.();
  });
  socket.once('close', () => {
    clearTimeout(total);
    wake?.();
  });
  const isOpen = (): boolean => socket.readyState === WebSocket.OPEN;

  /** The next text; undefined when the connection has ended. */
  async function next(): Promise<string | undefined> {
    if (received.length === 0 && isOpen()) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const silent = setTimeout(() => socket.terminate(), limits.silenceMs);
      wake = resolve;
      await promise;
      wake = undefined;
      clearTimeout(silent);
    }
    const text = received.shift();
    if (received.length === 0) socket.resume();
    return text;
  }

  return {
    isOpen,
    close: () => socket.terminate(),
    exchange: async function* (text, isLast) {
      let isWhole = false;
      let bytes = 0;
      try {
        socket.send(text);
        for (;;) {
          const answer = await next();
          if (answer === undefined) throw new RelayError('cut', 'the connection ended before the response');
          bytes += answer.length;
          if (bytes > limits.replyBytesMax) throw new RelayError('cut', `the answer is larger than ${limits.replyBytesMax} bytes`);
          yield answer;
          if (isLast(answer)) break;
        }
        isWhole = true;
      } finally {
        // What a reader leaves behind would be read as the answer to the next text.
        if (!isWhole) socket.terminate();
      }
    },
  };
}
