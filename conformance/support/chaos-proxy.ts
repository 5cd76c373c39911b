import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

/**
 * The fault that a proxy applies to the bytes that pass it. `afterBytes` counts the bytes of one reply, including its
 * head.
 */
export type Trouble =
  | { readonly type: 'none' }
  /** Every byte is delayed, in both directions. */
  | { readonly type: 'delay'; readonly ms: number }
  /** Replies are limited to this rate. */
  | { readonly type: 'slow'; readonly bytesPerSecond: number }
  /** The port is closed. */
  | { readonly type: 'refuse' }
  /** Connections are accepted and reset at once. */
  | { readonly type: 'reset-on-connect' }
  /** The connection is reset after this part of a reply; 0 is as soon as a request arrives. */
  | { readonly type: 'reset'; readonly afterBytes: number }
  /** The connection ends normally after this part of a reply. */
  | { readonly type: 'fin'; readonly afterBytes: number }
  /** Nothing more is sent after this part of a reply; 0 is a request that is read and never answered. */
  | { readonly type: 'stall'; readonly afterBytes: number }
  /** One bit of one byte of every reply is wrong. */
  | { readonly type: 'flip'; readonly atByte: number }
  /** The proxy itself answers every n-th request; all if absent. */
  | { readonly type: 'status'; readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly every?: number };

/**
 * The effect of a new fault on open connections. `keep`: the current reply continues, the next request meets the new
 * fault. `freeze`: they stay open and permanently pass no data, as if the machine had vanished.
 */
export type Existing = 'keep' | 'reset' | 'fin' | 'freeze';

export type ProxyCounts = {
  /** Accepted connections. */
  readonly connections: number;
  /** Requests whose first bytes arrived. */
  readonly requests: number;
  /** Requests whose reply has begun to pass from the target. */
  readonly replies: number;
  /** Bytes of replies that have arrived from the target. */
  readonly replyBytes: number;
  /** Open connections. */
  readonly open: number;
};

export type ChaosProxy = {
  readonly port: number;
  readonly set: (trouble: Trouble, existing?: Existing) => Promise<void>;
  readonly counts: () => Promise<ProxyCounts>;
  readonly [Symbol.asyncDispose]: () => Promise<void>;
};

/** A proxy in this process, with operations that need the same process. */
export type LocalChaosProxy = ChaosProxy & {
  /** Listens again with a queue of one connection, which is soon full if no connection is accepted. */
  readonly listenNarrowly: () => Promise<void>;
};

/** Distinguishes an answer of the proxy itself from one of the target. */
export const proxyWords = 'the proxy answers';

const host = '127.0.0.1';

/** Starts a TCP proxy before a port of this machine. */
export async function startChaosProxy(targetPort: number): Promise<LocalChaosProxy> {
  const counts = { connections: 0, requests: 0, replies: 0, replyBytes: 0 };
  const links = new Set<Link>();
  let trouble: Trouble = { type: 'none' };
  let server: Server | undefined;
  const accept = (socket: Socket): void => {
    counts.connections += 1;
    if (trouble.type === 'reset-on-connect') {
      socket.on('error', () => {});
      socket.resetAndDestroy();
      return;
    }
    const link = new Link(socket, targetPort, { trouble: () => trouble, counts });
    links.add(link);
    socket.once('close', () => links.delete(link));
  };
  const listen = async (port: number, backlog?: number): Promise<number> => {
    server?.close();
    server = createServer({ allowHalfOpen: true, noDelay: true }, accept);
    server.listen({ port, host, ...(backlog === undefined ? {} : { backlog }) });
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };
  const port = await listen(0);
  const stopListening = (): void => {
    server?.close();
    server = undefined;
  };
  return {
    port,
    set: async (next, existing = 'keep') => {
      const listens = server !== undefined;
      trouble = next;
      if (next.type === 'refuse') stopListening();
      else if (!listens) await listen(port);
      for (const link of links) link.meet(existing);
    },
    counts: () => Promise.resolve({ ...counts, open: links.size }),
    listenNarrowly: async () => void (await listen(port, 1)),
    [Symbol.asyncDispose]: () => {
      stopListening();
      for (const link of links) link.meet('reset');
      return Promise.resolve();
    },
  };
}

type LinkContext = { readonly trouble: () => Trouble; readonly counts: { requests: number; replies: number; replyBytes: number } };

/** One connection of a client and, as soon as data has to pass, its connection to the target. */
class Link {
  readonly #near: Socket;
  #far: Socket | undefined;
  readonly #targetPort: number;
  readonly #context: LinkContext;
  /** The fault of the current request. */
  #trouble: Trouble = { type: 'none' };
  /** Bytes of its reply that have arrived. */
  #replyBytes = 0;
  #isRequesting = false;
  /** Number of the current request among those of all connections. */
  #number = 0;
  #isFrozen = false;
  #request = '';
  /** Resolves when the delayed part of the reply has passed. */
  #passed: Promise<void> = Promise.resolve();

  constructor(near: Socket, targetPort: number, context: LinkContext) {
    this.#near = near;
    this.#targetPort = targetPort;
    this.#context = context;
    near.on('error', () => near.destroy());
    near.on('close', () => this.#far?.destroy());
    near.on('data', (chunk: Buffer) => this.#fromClient(chunk));
    near.on('end', () => {
      if (this.#far === undefined) near.end();
      else this.#far.end();
    });
  }

  meet(existing: Existing): void {
    if (existing === 'keep') return;
    if (existing === 'freeze') {
      this.#isFrozen = true;
      this.#near.pause();
      this.#far?.pause();
      return;
    }
    if (existing === 'fin') this.#near.end();
    else this.#reset();
    this.#far?.destroy();
  }

  #reset(): void {
    // A reset of a socket that is being shut down never completes, and then the process that did it cannot end.
    if (this.#near.writableEnded) this.#near.destroy();
    else this.#near.resetAndDestroy();
    this.#far?.destroy();
  }

  #fromClient(chunk: Buffer): void {
    if (!this.#isRequesting) {
      this.#isRequesting = true;
      this.#replyBytes = 0;
      this.#request = '';
      this.#trouble = this.#context.trouble();
      this.#context.counts.requests += 1;
      this.#number = this.#context.counts.requests;
    }
    const trouble = this.#trouble;
    if (trouble.type === 'status' && this.#number % (trouble.every ?? 1) === 0) return this.#answer(chunk, trouble);
    if (trouble.type === 'stall' && trouble.afterBytes === 0) return;
    if (trouble.type === 'reset' && trouble.afterBytes === 0) return this.#reset();
    const far = this.#reach();
    if (trouble.type === 'delay') setTimeout(() => far.write(chunk), trouble.ms);
    else if (!far.write(chunk)) {
      this.#near.pause();
      far.once('drain', () => this.#isFrozen || this.#near.resume());
    }
  }

  #answer(chunk: Buffer, { status, headers = {} }: Trouble & { type: 'status' }): void {
    this.#request += chunk.toString('latin1');
    const end = this.#request.indexOf('\r\n\r\n');
    const declared = Number(/\r\ncontent-length: *(\d+)/i.exec(this.#request)?.[1] ?? 0);
    if (end === -1 || this.#request.length < end + 4 + declared) return;
    this.#isRequesting = false;
    const body = JSON.stringify({ error: { message: `${proxyWords} ${status}`, type: 'server_error' } });
    const further = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    this.#near.write(
      `HTTP/1.1 ${status} Trouble\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n${further.join('')}\r\n${body}`,
    );
  }

  #reach(): Socket {
    if (this.#far !== undefined) return this.#far;
    const far = connect({ port: this.#targetPort, host, allowHalfOpen: true, noDelay: true });
    far.on('error', () => this.#reset());
    far.on('data', (chunk: Buffer) => this.#fromTarget(chunk));
    far.on('end', () => void this.#passed.then(() => this.#isFrozen || this.#near.end()));
    this.#far = far;
    return far;
  }

  #fromTarget(chunk: Buffer): void {
    if (this.#replyBytes === 0) this.#context.counts.replies += 1;
    // A reply that has begun ends the request: the client's next bytes are the next request.
    this.#isRequesting = false;
    const from = this.#replyBytes;
    this.#replyBytes += chunk.length;
    this.#context.counts.replyBytes += chunk.length;
    const trouble = this.#trouble;
    switch (trouble.type) {
      case 'reset':
      case 'fin':
      case 'stall':
        return this.#passUntil(chunk, trouble.afterBytes - from, trouble.type);
      case 'flip': {
        const at = trouble.atByte - from;
        const damaged = Buffer.from(chunk);
        if (at >= 0 && at < damaged.length) damaged[at] = (damaged[at] ?? 0) ^ 0x04;
        return this.#pass(damaged);
      }
      case 'delay':
        return this.#passLater(async () => {
          await wait(trouble.ms);
          if (!this.#near.destroyed) this.#near.write(chunk);
        });
      case 'slow':
        return this.#passLater(() => this.#drip(chunk, trouble.bytesPerSecond));
      case 'none':
      case 'refuse':
      case 'reset-on-connect':
      case 'status':
        return this.#pass(chunk);
    }
  }

  #pass(chunk: Buffer): void {
    if (this.#near.destroyed || this.#near.write(chunk)) return;
    this.#far?.pause();
    this.#near.once('drain', () => this.#isFrozen || this.#far?.resume());
  }

  #passUntil(chunk: Buffer, bytes: number, then: 'reset' | 'fin' | 'stall'): void {
    if (chunk.length < bytes) return this.#pass(chunk);
    if (bytes >= 0) this.#near.write(chunk.subarray(0, bytes), () => this.#strike(then));
  }

  #strike(then: 'reset' | 'fin' | 'stall'): void {
    if (then === 'reset') return this.#reset();
    if (then === 'fin') {
      this.#near.end();
      this.#far?.destroy();
      return;
    }
    this.meet('freeze');
  }

  #passLater(step: () => Promise<void>): void {
    this.#passed = this.#passed.then(step);
  }

  async #drip(chunk: Buffer, bytesPerSecond: number): Promise<void> {
    const piece = Math.max(1, Math.ceil(bytesPerSecond / 20));
    this.#far?.pause();
    for (let at = 0; at < chunk.length && !this.#near.destroyed; at += piece) {
      this.#near.write(chunk.subarray(at, at + piece));
      await wait((piece / bytesPerSecond) * 1000);
    }
    this.#far?.resume();
  }
}
