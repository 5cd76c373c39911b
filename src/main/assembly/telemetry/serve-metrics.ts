import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { closeIfSilent } from '../../../platform/http/silent-connection.ts';
import type { MetricsSnapshot } from '../../../platform/metrics/metrics-snapshot.ts';
import { metricsContentType, renderMetrics } from '../../../platform/metrics/render-metrics.ts';
import type { Logger } from '../../../platform/log.ts';
import { formatUrl, listenError } from '../../programs/listen.ts';

/** The most connections; no scraper needs more. */
const connectionsMax = 32;
const timeouts = { headersTimeout: 5000, requestTimeout: 10_000, keepAliveTimeout: 75_000, connectionsCheckingInterval: 2000 };

export type MetricsServer = { readonly url: string; readonly close: () => Promise<void> };

/**
 * Serves `GET /metrics` on its own address. It requires no key, so by default it listens only on this machine.
 * @param options.snapshots the metrics of every process that belongs to the gateway
 */
export async function serveMetrics(options: {
  readonly host: string;
  readonly port: number;
  readonly snapshots: () => Promise<readonly MetricsSnapshot[]>;
  readonly logger: Pick<Logger, 'error'>;
}): Promise<MetricsServer> {
  const { host, port, snapshots, logger } = options;
  const end = (response: ServerResponse, status: number, type: string, body: string, isHead = false): void => {
    response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(body), 'cache-control': 'no-store' });
    response.end(isHead ? undefined : body);
  };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = (request.url ?? '/').split('?', 1)[0];
    if (path !== '/metrics') return end(response, 404, 'text/plain; charset=utf-8', 'the metrics are at /metrics\n');
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('allow', 'GET, HEAD');
      return end(response, 405, 'text/plain; charset=utf-8', 'the metrics can only be read\n');
    }
    end(response, 200, metricsContentType, renderMetrics(await snapshots()), request.method === 'HEAD');
  };
  const server = createServer(timeouts, (request, response) => {
    response.on('error', () => response.destroy());
    answer(request, response).catch((error: unknown) => {
      logger.error({ err: error }, 'metrics request failed (bug)');
      if (!response.headersSent)
        end(response, 500, 'text/plain; charset=utf-8', 'the metrics could not be read; the reason is in the log\n');
      else response.destroy();
    });
  });
  server.maxConnections = connectionsMax;
  server.on('clientError', (error, socket) => {
    if (closeIfSilent(error, socket)) return;
    const status = 'code' in error && error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? '408 Request Timeout' : '400 Bad Request';
    if (socket.writable) socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
    else socket.destroy();
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(listenError(error, 'WEIR_METRICS_PORT', host, port)));
    server.listen(port, host, resolve);
  });
  const address = server.address() as AddressInfo;
  return {
    url: `${formatUrl(address.address, address.port)}/metrics`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
