import { type IncomingMessage, request } from 'node:http';
import type { Socket } from 'node:net';

import { patienceMs } from './http.ts';

/** How a reply's transport ended, as its client saw it. `left`: the client itself disconnected. */
type ReplyEnd = 'complete' | 'broken' | 'left';

export type ReceivedReply = {
  /** 0 if the connection ended before a status line. */
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly bytes: Buffer;
  readonly text: string;
  readonly end: ReplyEnd;
};

/** A call whose client decides when to read and when to disconnect. */
export type OpenCall = {
  /** Resolves with the reply's head. Rejects if the connection ends before it. */
  readonly head: Promise<IncomingMessage>;
  /** Resolves when the transport has ended, in whatever way. Never rejects. */
  readonly done: Promise<ReceivedReply>;
  /** Bytes of the body received so far. */
  readonly received: () => Buffer;
  /** Resolves when the received part satisfies the condition. Rejects if the reply or the time ends before. */
  readonly until: (condition: (text: string) => boolean, limitMs?: number) => Promise<void>;
  readonly pause: () => void;
  readonly resume: () => void;
  /** `fin` closes normally, `rst` resets, `half` closes only the sending side. */
  readonly leave: (how: 'fin' | 'rst' | 'half') => void;
};

export type OpenCallOptions = {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
  /** No call may hang: after this time the connection is destroyed and the reply counts as broken. */
  readonly limitMs?: number;
  /** Reads nothing, and keeps the kernel's receive buffer small. */
  readonly neverRead?: boolean;
  /** Called with the length of the body so far, for each chunk. */
  readonly onData?: (bytes: number) => void;
};

/** Posts a body on a connection of its own and provides the reply as it arrives. */
export function openCall(url: string, options: OpenCallOptions): OpenCall {
  const chunks: Buffer[] = [];
  const listeners = new Set<() => void>();
  let bytesReceived = 0;
  const head = Promise.withResolvers<IncomingMessage>();
  const done = Promise.withResolvers<ReceivedReply>();
  let reply: IncomingMessage | undefined;
  let socket: Socket | undefined;
  let end: ReplyEnd | undefined;
  const finish = (how: ReplyEnd): void => {
    if (end !== undefined) return;
    end = how;
    clearTimeout(timer);
    head.reject(new Error(`the connection ended (${how}) before a status line`));
    const bytes = Buffer.concat(chunks);
    done.resolve({ status: reply?.statusCode ?? 0, headers: reply?.headers ?? {}, bytes, text: bytes.toString(), end: how });
    for (const listener of listeners) listener();
  };
  head.promise.catch(() => {});
  const outgoing = request(url, {
    method: 'POST',
    agent: false,
    headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(options.body), ...options.headers },
  });
  const timer = setTimeout(
    () => {
      finish('broken');
      outgoing.destroy();
    },
    options.limitMs ?? 2 * patienceMs,
  );
  outgoing.on('socket', (opened) => (socket = opened));
  outgoing.on('error', () => finish('broken'));
  // A reply that has begun has an end of its own: it may be read long after its connection has closed.
  outgoing.on('close', () => reply === undefined && finish('broken'));
  outgoing.on('response', (incoming) => {
    reply = incoming;
    head.resolve(incoming);
    incoming.on('error', () => finish('broken'));
    incoming.on('close', () => finish(incoming.complete ? 'complete' : 'broken'));
    if (options.neverRead === true) return;
    incoming.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      bytesReceived += chunk.length;
      options.onData?.(bytesReceived);
      for (const listener of listeners) listener();
    });
    incoming.on('end', () => finish(incoming.complete ? 'complete' : 'broken'));
  });
  outgoing.end(options.body);
  return {
    head: head.promise,
    done: done.promise,
    received: () => Buffer.concat(chunks),
    until: (condition, limitMs = patienceMs) =>
      new Promise((resolve, reject) => {
        const stop = (): void => {
          clearTimeout(limit);
          listeners.delete(look);
        };
        const limit = setTimeout(() => {
          stop();
          reject(new Error(`not received within ${limitMs} ms; received: ${Buffer.concat(chunks).toString().slice(-2000)}`));
        }, limitMs);
        const look = (): void => {
          const text = Buffer.concat(chunks).toString();
          if (condition(text)) {
            stop();
            resolve();
          } else if (end !== undefined) {
            stop();
            reject(new Error(`the reply ended (${end}) before it was received: ${text.slice(-2000)}`));
          }
        };
        listeners.add(look);
        look();
      }),
    pause: () => void reply?.pause(),
    resume: () => void reply?.resume(),
    leave: (how) => {
      if (how === 'half') {
        socket?.end();
        return;
      }
      finish('left');
      // A reset of a socket that is being shut down never completes, and then the process that did it cannot end.
      if (how === 'rst' && socket?.writableEnded === false) socket.resetAndDestroy();
      else outgoing.destroy();
    },
  };
}
