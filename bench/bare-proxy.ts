import cluster from 'node:cluster';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { type Dispatcher, Pool } from 'undici';

/**
 * The least that a proxy on this runtime can do, without keys, checks or books: `node bench/bare-proxy.ts URL WAY
 * PROCESSES`. `buffered` collects the request and dispatches it, `piped` forwards its chunks. A reply of known length
 * is written together with its head, a stream as its chunks arrive. Several processes get the connections in turn.
 */
const [upstream = '', way, processes = '1'] = process.argv.slice(2);
const pool = new Pool(upstream, { connections: null, pipelining: 1, allowH2: false, headersTimeout: 0, bodyTimeout: 0 });

function relay(response: ServerResponse): Dispatcher.DispatchHandler {
  let whole: Buffer[] | undefined;
  return {
    onRequestStart: () => {},
    onResponseStart: (_controller, status, headers) => {
      const { connection: _connection, 'transfer-encoding': _coding, ...others } = headers;
      response.writeHead(status, others);
      if (headers['content-length'] !== undefined) whole = [];
    },
    onResponseData: (controller, chunk) => {
      if (whole !== undefined) {
        whole.push(chunk);
        return;
      }
      if (response.write(chunk)) return;
      controller.pause();
      response.once('drain', () => controller.resume());
    },
    onResponseEnd: () => void response.end(whole?.length === 1 ? whole[0] : whole && Buffer.concat(whole)),
    onResponseError: () => void response.destroy(),
  };
}

function forward(request: IncomingMessage, response: ServerResponse, body: Buffer | IncomingMessage): void {
  const headers = {
    'content-type': 'application/json',
    authorization: String(request.headers.authorization),
    ...(body === request && { 'content-length': String(request.headers['content-length']) }),
  };
  pool.dispatch({ path: request.url ?? '/', method: 'POST', headers, body }, relay(response));
}

const server = createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
  if (way === 'piped') {
    forward(request, response, request);
    return;
  }
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => forward(request, response, Buffer.concat(chunks)));
});

function serve(onListening: (port: number) => void): void {
  server.listen(0, '127.0.0.1', () => onListening((server.address() as AddressInfo).port));
}

/** Starts the processes. The port is printed when all listen. */
function startProcesses(count: number): void {
  let listening = 0;
  cluster.on('listening', (_worker, { port }) => {
    listening += 1;
    if (listening === count) console.log(port);
  });
  for (let started = 0; started < count; started += 1) cluster.fork();
}

if (cluster.isWorker) serve(() => {});
else if (processes === '1') serve((port) => console.log(port));
else startProcesses(Number(processes));
