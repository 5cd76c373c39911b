import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

/** A received request. */
type Seen = { readonly host: string | undefined; readonly url: string | undefined; readonly headers: NodeJS.Dict<string | string[]> };

/**
 * A server on this machine that stands in for any host of the web, for tests with their own look-up of names. It ends
 * with its test.
 */
export async function serveMedia(
  context: TestContext,
  listener: RequestListener,
): Promise<{
  readonly server: Server;
  readonly port: number;
  readonly seen: readonly Seen[];
  readonly at: (path?: string, host?: string) => string;
}> {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    seen.push({ host: request.headers.host, url: request.url, headers: request.headers });
    listener(request, response);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  context.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { server, port, seen, at: (path = '/', host = 'media.example') => `http://${host}:${port}${path}` };
}
