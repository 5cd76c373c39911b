import type { Socket } from 'node:net';
import { Readable } from 'node:stream';

import type { Dispatcher, Pool, buildConnector } from 'undici';

import { joinBytes } from '../byte-pieces.ts';
import { lendMemory } from './body-memory.ts';
import { DeferredExchange } from './deferred-exchange.ts';
import { InvalidReplyError } from './invalid-reply-error.ts';
import { loadUndici } from './load-undici.ts';
import { openTunnel } from './open-tunnel.ts';
import type { ProxyAddress } from './proxy-address.ts';
import {
  ClientClosedError,
  ConnectTimeoutError,
  idleMarginMs,
  idleMs,
  idleMsMax,
  type UpstreamClient,
  type UpstreamClientOptions,
  type UpstreamRequest,
} from './upstream-client.ts';
import { createRequestHeadEncoder } from './request-head.ts';
import type { ReplyHeaders } from './reply-head.ts';
import { BodyLengthError, ConnectionClosedError, type StreamedBody } from './upstream-connection.ts';

type UndiciClientOptions = UpstreamClientOptions & {
  /** The proxy of all connections. Each is a tunnel, for http too. Absent: no proxy. */
  readonly proxy?: ProxyAddress | undefined;
  /** Whether to use HTTP/2 if the upstream offers it. */
  readonly http2?: boolean | undefined;
};

/**
 * A client for proxies and HTTP/2, which the gateway's own client does not support. It keeps the same contract: nothing
 * is sent twice, redirects are not followed, and errors have the same codes. It costs more CPU for each call.
 */
export function createUndiciClient(options: UndiciClientOptions): UpstreamClient {
  let isClosed = false;
  const opening = loadUndici().then((undici) => openPool(undici, options));
  // Each request gets the error.
  opening.catch(() => {});
  const encodeHead = createRequestHeadEncoder(new URL(options.origin).host);
  return {
    send: (request, handler) => {
      const exchange = new DeferredExchange(handler);
      if (isClosed) return queueMicrotask(() => exchange.fail(new ClientClosedError()));
      try {
        // A request that cannot be encoded must not reach undici: an HTTP/2 pool that has thrown once serves no further
        // request.
        encodeHead(request.method, request.path, request.headers, 0);
      } catch (error) {
        return queueMicrotask(() => exchange.fail(error instanceof Error ? error : new Error('the request cannot be encoded')));
      }
      opening.then(
        (pool) => {
          if (!exchange.isOver) dispatch(pool, request, exchange, options);
        },
        (error: Error) => exchange.fail(error),
      );
    },
    close: async () => {
      isClosed = true;
      await opening.then(async (pool) => {
        if (!pool.closed) await pool.close();
      });
    },
  };
}

function openPool(undici: Awaited<ReturnType<typeof loadUndici>>, options: UndiciClientOptions): Pool {
  const { origin, connectTimeoutMs, headerBytesMax, proxy, http2 = false } = options;
  const connect = undici.buildConnector({ timeout: connectTimeoutMs, allowH2: http2, preferH2: http2 });
  return new undici.Pool(origin, {
    allowH2: http2,
    connect: proxy === undefined ? connect : connectThrough(proxy, connect, connectTimeoutMs),
    maxHeaderSize: headerBytesMax,
    // The exchange has its own, finer limits.
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: idleMs,
    keepAliveMaxTimeout: idleMsMax,
    keepAliveTimeoutThreshold: idleMarginMs,
  });
}

/** Opens a tunnel. For https, TLS runs through it to the upstream, which proves its identity. */
function connectThrough(proxy: ProxyAddress, connect: buildConnector.connector, timeoutMs: number): buildConnector.connector {
  const open = async (place: buildConnector.Options, callback: buildConnector.Callback): Promise<void> => {
    const isSecure = place.protocol === 'https:';
    const end = { host: place.hostname, port: place.port === '' ? (isSecure ? 443 : 80) : Number(place.port) };
    let socket: Socket;
    try {
      socket = await openTunnel(proxy, end, timeoutMs);
    } catch (error) {
      return callback(error instanceof Error ? error : new Error('the proxy cannot be reached'), null);
    }
    if (isSecure) connect({ ...place, httpSocket: socket }, callback);
    else callback(null, socket);
  };
  return (place, callback) => void open(place, callback);
}

function dispatch(pool: Pool, request: UpstreamRequest, exchange: DeferredExchange, options: UndiciClientOptions): void {
  const { path, method, streamedBody } = request;
  const headers = streamedBody === undefined ? request.headers : { ...request.headers, 'content-length': String(streamedBody.bytes) };
  const whole = request.body === undefined ? null : joinBytes(request.body);
  // Undici does not tell when it has sent a body, so its memory is left to the collector.
  if (whole !== null) lendMemory(whole);
  const body = streamedBody === undefined ? whole : Readable.from(readDeclared(streamedBody), { objectMode: false });
  const handler: Dispatcher.DispatchHandler = {
    onRequestStart: (controller) => exchange.onRequestStart(controller),
    onResponseStart: (controller, status, replied) => {
      if (sizeOf(replied) <= options.headerBytesMax) return exchange.onResponseStart(controller, status, replied);
      const error = new InvalidReplyError('its headers are too large');
      exchange.fail(error);
      controller.abort(error);
    },
    onResponseData: (controller, piece) => exchange.onResponseData(controller, piece),
    onResponseEnd: () => exchange.onResponseEnd(),
    onResponseError: (controller, error) => exchange.onResponseError(controller, translateError(error, options)),
  };
  try {
    pool.dispatch({ path, method, headers, body }, handler);
  } catch (error) {
    exchange.fail(error instanceof Error ? error : new Error('the request could not be sent'));
  }
}

/** Size of the headers, which the HTTP/2 parser does not count. */
function sizeOf(headers: ReplyHeaders): number {
  let bytes = 0;
  for (const name in headers) bytes += name.length + String(headers[name] ?? '').length;
  return bytes;
}

/** The body. Fails if its length is not as declared. */
async function* readDeclared({ bytes, read }: StreamedBody): AsyncGenerator<Buffer> {
  let sent = 0;
  for await (const piece of read()) {
    sent += piece.length;
    if (sent > bytes) break;
    yield piece;
  }
  if (sent !== bytes) throw new BodyLengthError(sent, bytes);
}

/**
 * Translates undici's codes into those of the gateway's own client, because decisions by code must not depend on the
 * client.
 */
function translateError(error: Error & { readonly code?: unknown }, { connectTimeoutMs }: UndiciClientOptions): Error {
  const code = typeof error.code === 'string' ? error.code : '';
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return new ConnectTimeoutError(connectTimeoutMs);
  if (code === 'UND_ERR_CLOSED' || code === 'UND_ERR_DESTROYED') return new ClientClosedError();
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return new InvalidReplyError('its headers are too large');
  if (code.startsWith('HPE_')) return new InvalidReplyError(error.message);
  if (
    code === 'UND_ERR_SOCKET' ||
    code === 'UND_ERR_INFO' ||
    code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH' ||
    code.startsWith('ERR_HTTP2_')
  )
    return new ConnectionClosedError();
  return error;
}
