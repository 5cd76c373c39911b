import { isIP, connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

import type { Bytes } from '../byte-pieces.ts';
import type { ReplyHead } from './reply-head.ts';
import { createRequestHeadEncoder } from './request-head.ts';
import { type StreamedBody, UpstreamConnection, type UpstreamController, type UpstreamHandler } from './upstream-connection.ts';

export type { StreamedBody, UpstreamController, UpstreamHandler } from './upstream-connection.ts';

/** One HTTP request to an upstream. `path` includes the query. */
export type UpstreamRequest = {
  readonly path: string;
  readonly method: 'POST' | 'GET' | 'DELETE' | 'PUT';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Bytes | undefined;
  /** A body that is not in memory, instead of `body`. */
  readonly streamedBody?: StreamedBody;
};

/** Sends requests to the origin of one upstream. */
export type UpstreamClient = {
  /** Sends a request; the handler receives all later events. Never throws: failures go to `onResponseError`. */
  readonly send: (request: UpstreamRequest, handler: UpstreamHandler) => void;
  /** Accepts no more requests, and waits for the running ones. */
  readonly close: () => Promise<void>;
  /** The client whose connections it uses, if it has none of its own. */
  readonly base?: UpstreamClient;
};

export type UpstreamClientOptions = {
  readonly origin: string;
  readonly connectTimeoutMs: number;
  /** Reply headers larger than this end the call with an error. */
  readonly headerBytesMax: number;
};

/** No connection was made in time. */
export class ConnectTimeoutError extends Error {
  readonly code = 'CONNECT_TIMEOUT';
  constructor(timeoutMs: number) {
    super(`no connection within ${timeoutMs} ms`);
    this.name = 'ConnectTimeoutError';
  }
}

/** A request came after the client was closed, or an idle connection was closed. */
export class ClientClosedError extends Error {
  readonly code = 'CLIENT_CLOSED';
  constructor() {
    super('the connections to this upstream are closed');
    this.name = 'ClientClosedError';
  }
}

const readBytes = 64 * 1024;
/**
 * How long an idle connection is kept if the upstream names no time. Common servers (Node, uvicorn, gunicorn) close
 * idle connections after five seconds or less, mostly without announcing it; a request that is sent at that moment is
 * lost.
 */
export const idleMs = 4_000;
/** The longest time that an idle connection is kept, even if the upstream names a longer one. */
export const idleMsMax = 600_000;
/**
 * Closes a connection this long before the time that the upstream names: a request that is in flight then would be
 * lost.
 */
export const idleMarginMs = 2_000;
const sweepMs = 1_000;
/** Idle connections that are kept after a burst. Each holds a file descriptor and, with TLS, about 50 KB. */
const idleConnectionsMax = 1024;

/**
 * Opens a connection pool. It follows no redirects, speaks only HTTP/1.1, and uses no proxy; `createUndiciClient`
 * supports these. Its only time limit is for connecting, because the exchange has finer ones.
 *
 * Nothing is sent twice. When an upstream closes a connection with a request in flight, nothing shows for certain that
 * it has not read the request. A reset looks the same after a crash during generation, which must be paid. So the call
 * fails, and its client decides. To avoid this, a connection is not used when its end is known or near.
 */
export function createUpstreamClient(options: UpstreamClientOptions): UpstreamClient {
  const pool = createPool(options);
  const encodeHead = createRequestHeadEncoder(new URL(options.origin).host);
  return {
    send: (request, handler) => {
      let head: string;
      try {
        const bytes = request.streamedBody?.bytes ?? request.body?.length ?? 0;
        head = encodeHead(request.method, request.path, request.headers, bytes);
      } catch (error) {
        return failLater(handler, error instanceof Error ? error : new Error('the request cannot be encoded'));
      }
      const connection = pool.take();
      if (connection === undefined) failLater(handler, new ClientClosedError());
      else connection.send(head, request.streamedBody ?? request.body, handler);
    },
    close: pool.close,
  };
}

const noController: UpstreamController = { abort: () => {}, pause: () => {}, resume: () => {} };

/** Reports a failure after `send` has returned, because callers do not expect it earlier. */
function failLater(handler: UpstreamHandler, error: Error): void {
  queueMicrotask(() => handler.onResponseError(noController, error));
}

type Pool = {
  /** An idle connection or a new one; undefined if the pool is closed. */
  readonly take: () => UpstreamConnection | undefined;
  readonly close: () => Promise<void>;
};

function createPool(options: UpstreamClientOptions): Pool {
  const open = createConnector(options);
  const all = new Set<UpstreamConnection>();
  /** The most recently used connection is last and is used first, so that the others can expire. */
  let idle: UpstreamConnection[] = [];
  let closing: PromiseWithResolvers<void> | undefined;

  const sweep = (): void => {
    const nowMs = performance.now();
    const expired = idle.filter((connection) => connection.expiresAtMs <= nowMs);
    if (expired.length === 0) return;
    idle = idle.filter((connection) => connection.expiresAtMs > nowMs);
    for (const connection of expired) connection.destroy(new ClientClosedError());
  };
  const sweeper = setInterval(sweep, sweepMs).unref();

  const onIdle = (connection: UpstreamConnection, head: ReplyHead): void => {
    const keepMs = readIdleMs(head);
    if (closing !== undefined || keepMs <= 0) return connection.destroy(new ClientClosedError());
    connection.expiresAtMs = performance.now() + keepMs;
    idle.push(connection);
    if (idle.length > idleConnectionsMax) idle.shift()?.destroy(new ClientClosedError());
  };
  const onClosed = (connection: UpstreamConnection): void => {
    all.delete(connection);
    const place = idle.indexOf(connection);
    if (place !== -1) idle.splice(place, 1);
    if (all.size === 0) closing?.resolve();
  };
  return {
    take: () => {
      if (closing !== undefined) return undefined;
      const nowMs = performance.now();
      for (let free = idle.pop(); free !== undefined; free = idle.pop()) {
        if (free.isUsable && free.expiresAtMs > nowMs) return free;
        free.destroy(new ClientClosedError());
      }
      const connection = new UpstreamConnection(open, { headerBytesMax: options.headerBytesMax, onIdle, onClosed });
      all.add(connection);
      return connection;
    },
    close: () => {
      if (closing !== undefined) return closing.promise;
      closing = Promise.withResolvers();
      clearInterval(sweeper);
      for (const connection of idle.splice(0)) connection.destroy(new ClientClosedError());
      if (all.size === 0) closing.resolve();
      return closing.promise;
    },
  };
}

/**
 * How long a connection may be idle after a reply, in milliseconds: the time that the upstream names, or the default.
 */
function readIdleMs(head: ReplyHead): number {
  const hint = head.headers['keep-alive'];
  if (typeof hint !== 'string') return idleMs;
  const seconds = /timeout\s*=\s*([0-9]{1,6})/i.exec(hint)?.[1];
  return seconds === undefined ? idleMs : Math.min(Number(seconds) * 1000 - idleMarginMs, idleMsMax);
}

type Connector = ConstructorParameters<typeof UpstreamConnection>[0];

/** Opens connections to an origin. Nothing is sent before the server has proved its identity. */
function createConnector(options: UpstreamClientOptions): Connector {
  const { protocol, hostname, port } = new URL(options.origin);
  const isSecure = protocol === 'https:';
  // URLs write IPv6 addresses in brackets.
  const host = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  // On the systems for which Node offers prebuilt releases, a read fills its memory and is delivered in one step, so
  // all connections share the memory.
  const buffer = Buffer.allocUnsafeSlow(readBytes);
  let session: Buffer | undefined;
  return (read, ready) => {
    const common = {
      host,
      port: port === '' ? (isSecure ? 443 : 80) : Number(port),
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: 60_000,
      onread: {
        buffer,
        callback: (length: number): boolean => {
          read(buffer.subarray(0, length));
          return true;
        },
      },
    };
    const timer = setTimeout(() => socket.destroy(new ConnectTimeoutError(options.connectTimeoutMs)), options.connectTimeoutMs);
    let isConnected = false;
    const onConnect = (): void => {
      isConnected = true;
      clearTimeout(timer);
      ready();
    };
    let socket: Socket;
    if (isSecure) {
      const secure = connectTls(
        { ...common, ...(isIP(host) === 0 ? { servername: host } : {}), ALPNProtocols: ['http/1.1'], session },
        onConnect,
      );
      secure.on('session', (ticket) => (session = ticket));
      // The server may have failed because of the session. If it were offered again, no connection might succeed. The
      // call fails, and its client may retry at once.
      const forgetSession = (): void => {
        if (!isConnected) session = undefined;
      };
      secure.on('end', forgetSession);
      secure.on('error', forgetSession);
      socket = secure;
    } else {
      socket = connectTcp(common, onConnect);
    }
    socket.on('close', () => clearTimeout(timer));
    return socket;
  };
}
