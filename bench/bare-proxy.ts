import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { type Dispatcher, Pool } from 'undici';

/** The least that a proxy on this runtime can do: buffer the request, dispatch it, hand every chunk on. No keys, no checks, no books. */
const pool = new Pool(process.argv[2] ?? '', { connections: null, pipelining: 1, allowH2: false, headersTimeout: 0, bodyTimeout: 0 });

function relay(response: ServerResponse): Dispatcher.DispatchHandler {
  return {
    onRequestStart: () => {},
    onResponseStart: (_controller, status, headers) => {
      const { connection: _connection, 'transfer-encoding': _coding, ...kept } = headers;
      response.writeHead(status, kept);
    },
    onResponseData: (controller, chunk) => {
      if (response.write(chunk)) return;
      controller.pause();
      response.once('drain', () => controller.resume());
    },
    onResponseEnd: () => void response.end(),
    onResponseError: () => void response.destroy(),
  };
}

const server = createServer({ keepAliveTimeout: 120_000 }, (request: IncomingMessage, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const headers = { 'content-type': 'application/json', authorization: String(request.headers.authorization) };
    pool.dispatch({ path: request.url ?? '/', method: 'POST', headers, body: Buffer.concat(chunks) }, relay(response));
  });
});

server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));
