import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';

/** A request that a proxy received. */
export type Asked = { readonly place: string; readonly authorization: string | undefined };

/** A proxy on this machine. Every tunnel leads to the same server, for any host name. */
export type FakeProxy = AsyncDisposable & {
  readonly address: string;
  readonly asked: readonly Asked[];
  /** Ends all tunnels. */
  readonly cut: () => void;
};

/**
 * @param leadsTo the port on this machine to which all tunnels lead; undefined: the requested host and port
 * @param decide the status of the answer; 200 connects, undefined never answers
 */
export async function startFakeProxy(
  leadsTo: number | undefined,
  decide: (asked: Asked) => number | undefined = () => 200,
): Promise<FakeProxy> {
  const asked: Asked[] = [];
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
  };
  const server = createServer((_request, response) => void response.writeHead(405).end());
  server.on('connection', keep);
  server.on('connect', (request: IncomingMessage, near: Socket) => {
    const one = { place: request.url ?? '', authorization: request.headers['proxy-authorization'] };
    asked.push(one);
    const status = decide(one);
    if (status === undefined) return;
    if (status !== 200) return void near.end(`HTTP/1.1 ${status} No\r\ncontent-length: 0\r\n\r\n`);
    const far = connect(leadsTo ?? Number(one.place.slice(one.place.lastIndexOf(':') + 1)), '127.0.0.1');
    keep(far);
    far.once('error', () => near.end('HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n'));
    far.once('connect', () => {
      near.write('HTTP/1.1 200 Connection established\r\n\r\n');
      near.pipe(far).pipe(near);
    });
    near.once('close', () => far.destroy());
    far.once('close', () => near.end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    cut,
    [Symbol.asyncDispose]: async () => {
      cut();
      server.close();
      await once(server, 'close');
    },
  };
}
