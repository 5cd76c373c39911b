import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

export type Received = { readonly headers: IncomingHttpHeaders; readonly body: string };

/** A receiver of callbacks on its own port, for tests. `answer` writes its answer. */
export async function startReceiver(
  context: TestContext,
  answer: (response: ServerResponse, received: Received) => void = (response) => void response.writeHead(204).end(),
): Promise<{ readonly url: string; readonly received: Received[] }> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const one = { headers: request.headers, body: Buffer.concat(pieces).toString() };
      received.push(one);
      answer(response, one);
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  context.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?token=secret`, received };
}
