import { type IncomingHttpHeaders, type IncomingMessage, type OutgoingHttpHeaders, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { Readable } from 'node:stream';

/** A request that is sent on. Its target begins with a slash, so that it cannot name another host. */
export type RelayedRequest = {
  readonly method: string;
  readonly target: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body: Readable | undefined;
};

/** The answer, whose body arrives no faster than it is read. It ends with an error if the server's answer was cut. */
export type RelayedReply = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: AsyncIterable<Uint8Array>;
  /** Resolves when the connection is closed, also if nobody reads the body. */
  readonly closed: Promise<void>;
};

export type RelayLimits = {
  readonly connectMs: number;
  /** The longest time without a byte in either direction. */
  readonly silenceMs: number;
  readonly totalMs: number;
  readonly requestBytesMax: number;
  readonly replyBytesMax: number;
};

/** `unreachable`: no connection. `silent`: too slow. `cut`: it ended without an answer. `too-large`: the request is. */
export type RelayFailure = 'unreachable' | 'silent' | 'cut' | 'too-large';

export class RelayError extends Error {
  readonly failure: RelayFailure;

  constructor(failure: RelayFailure, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'RelayError';
    this.failure = failure;
  }
}

/**
 * Sends a request to one server, and resolves with the head of its answer. Both bodies are passed on as they arrive,
 * and neither is read faster than it can be written. Each request has a connection of its own, so that a late end of
 * another one is never its failure.
 * @param signal ends the request, and the answer while it arrives
 * @throws RelayError, or the reason of the signal
 */
export function relayRequest(origin: URL, request: RelayedRequest, limits: RelayLimits, signal: AbortSignal): Promise<RelayedReply> {
  const { promise, resolve, reject } = Promise.withResolvers<RelayedReply>();
  const send = origin.protocol === 'https:' ? requestHttps : requestHttp;
  const { method, target: path, headers, body } = request;
  const host = origin.hostname.replace(/^\[|\]$/g, '');
  // A server that closes after an early answer would break the writing of the rest, and its answer with it.
  const kept = { ...headers, connection: 'keep-alive' };
  const sent = send({ host, port: origin.port, method, path, headers: kept, agent: false });
  const end = (failure: Error): void => {
    reject(failure);
    sent.destroy(failure);
  };
  const stop = (): void => end(signal.reason instanceof Error ? signal.reason : new Error('the request was aborted'));
  const total = setTimeout(() => end(silence(limits.totalMs)), limits.totalMs).unref();
  const connecting = setTimeout(() => {
    end(new RelayError('unreachable', `no connection within ${limits.connectMs} ms`));
  }, limits.connectMs);
  sent.setTimeout(limits.silenceMs, () => end(silence(limits.silenceMs)));
  let isConnected = false;
  sent.once('socket', (socket) =>
    socket.once('connect', () => {
      isConnected = true;
      clearTimeout(connecting);
    }),
  );
  const closed = Promise.withResolvers<void>();
  sent.once('close', () => {
    clearTimeout(connecting);
    clearTimeout(total);
    signal.removeEventListener('abort', stop);
    closed.resolve();
  });
  sent.on('error', (cause) => {
    const failure = isConnected ? 'cut' : 'unreachable';
    reject(cause instanceof RelayError ? cause : new RelayError(failure, cause.message, { cause }));
  });
  sent.once('response', (reply) => {
    const { statusCode: status = 502, headers: replied } = reply;
    resolve({ status, headers: replied, body: limitBytes(reply, limits.replyBytesMax), closed: closed.promise });
    // What the client still sends has no reader any more.
    reply.once('close', () => {
      sent.destroy();
      body?.resume();
    });
  });
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  pump(body, sent, limits.requestBytesMax, end);
  return promise;
}

function silence(ms: number): RelayError {
  return new RelayError('silent', `no answer within ${ms} ms`);
}

/** Writes the body, and pauses it while the connection is full. */
function pump(body: Readable | undefined, sent: ReturnType<typeof requestHttp>, bytesMax: number, end: (failure: Error) => void): void {
  if (body === undefined) {
    sent.end();
    return;
  }
  let length = 0;
  body.on('data', (piece: Buffer) => {
    length += piece.length;
    if (length > bytesMax) end(new RelayError('too-large', `the body is larger than ${bytesMax} bytes`));
    if (sent.destroyed || sent.write(piece)) return;
    body.pause();
    sent.once('drain', () => body.resume());
  });
  body.once('end', () => sent.end());
  body.once('error', (cause) => end(new RelayError('cut', 'the client ended its request', { cause })));
}

async function* limitBytes(reply: IncomingMessage, bytesMax: number): AsyncGenerator<Uint8Array> {
  let length = 0;
  for await (const piece of reply as AsyncIterable<Buffer>) {
    length += piece.length;
    if (length > bytesMax) throw new RelayError('cut', `the answer is larger than ${bytesMax} bytes`);
    yield piece;
  }
}
