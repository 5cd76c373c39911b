import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';

/** One call of the program, and its answer. */
export type SeenCall = {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  status: number;
  replyHeaders: IncomingHttpHeaders;
  /** The answer's body if it is an error. */
  error: string;
  /** Whether the program disconnected before its answer began, as when it ends beside a call for a title. */
  wasLeft: boolean;
};

export type TrafficRecorder = {
  readonly url: string;
  /** The calls since the last take, in the order of their arrival. */
  readonly take: () => readonly SeenCall[];
  readonly close: () => Promise<void>;
};

/** A server in front of the gateway that passes everything on and records the requests. */
export async function recordTraffic(gatewayUrl: string): Promise<TrafficRecorder> {
  const { hostname, port } = new URL(gatewayUrl);
  let calls: SeenCall[] = [];
  const keep = (incoming: IncomingMessage, body: string): SeenCall => {
    const { method = 'GET', url = '/', headers } = incoming;
    const call: SeenCall = { method, path: url, headers, body, status: 0, replyHeaders: {}, error: '', wasLeft: false };
    calls.push(call);
    return call;
  };
  const passOn = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const body = Buffer.concat(await incoming.toArray());
    const call = keep(incoming, body.toString());
    const { method, path, headers } = call;
    const forwarded = request({ hostname, port, method, path, headers }, (answer) => {
      call.status = answer.statusCode ?? 0;
      call.replyHeaders = answer.headers;
      outgoing.writeHead(call.status, answer.headers);
      answer.on('data', (chunk: Buffer) => {
        if (call.status >= 400) call.error += chunk.toString();
      });
      answer.pipe(outgoing);
      answer.once('close', () => outgoing.destroyed || answer.complete || outgoing.destroy());
    });
    forwarded.once('error', () => outgoing.destroy());
    outgoing.once('close', () => {
      call.wasLeft = call.status === 0;
      forwarded.destroy();
    });
    forwarded.end(body);
  };
  const server = createServer((incoming, outgoing) => void passOn(incoming, outgoing));
  server.on('upgrade', (incoming: IncomingMessage, client: Socket, head: Buffer) => {
    const call = keep(incoming, '');
    const lines = Object.entries(incoming.headers).map(([name, value]) => `${name}: ${String(value)}`);
    const gateway = connect(Number(port), hostname, () => {
      gateway.write(`GET ${call.path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
      gateway.write(head);
    });
    gateway.once('data', (chunk: Buffer) => (call.status = Number(/^HTTP\/1\.1 (\d{3})/.exec(chunk.toString('latin1'))?.[1])));
    for (const socket of [client, gateway]) socket.on('error', () => [client, gateway].forEach((end) => end.destroy()));
    gateway.pipe(client).pipe(gateway);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    take: () => {
      const taken = calls;
      calls = [];
      return taken;
    },
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
