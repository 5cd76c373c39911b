import { Agent, createServer, get, request } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Balancer = {
  readonly url: string;
  /** Whether it currently sends requests to this server. */
  readonly uses: (server: string) => boolean;
  readonly [Symbol.asyncDispose]: () => Promise<void>;
};

const probeMs = 100;

/**
 * A typical load balancer: it probes each server for readiness, sends requests to the ready ones in turn, keeps its
 * connections, and never retries.
 */
export async function startBalancer(servers: readonly string[]): Promise<Balancer> {
  const agent = new Agent({ keepAlive: true, maxSockets: 256 });
  const ready = new Map(servers.map((server) => [server, true]));
  let turn = 0;
  const probe = (server: string): void => {
    const asked = get(`${server}/health/ready`, { agent: false, timeout: 10_000 }, (reply) => {
      ready.set(server, reply.statusCode === 200);
      reply.resume();
    });
    asked.on('error', () => ready.set(server, false));
    asked.on('timeout', () => asked.destroy());
  };
  const timer = setInterval(() => servers.forEach(probe), probeMs);
  const balancer = createServer({ keepAliveTimeout: 60_000 }, (incoming, outgoing) => {
    const usable = servers.filter((server) => ready.get(server) === true);
    turn += 1;
    const server = usable[turn % usable.length];
    if (server === undefined) return void outgoing.writeHead(502).end('no server is ready');
    const { connection: _, ...headers } = incoming.headers;
    const forwarded = request(`${server}${incoming.url}`, { method: incoming.method ?? 'GET', headers, agent }, (reply) => {
      const { connection: _hop, 'keep-alive': _hint, ...replyHeaders } = reply.headers;
      outgoing.writeHead(reply.statusCode ?? 502, replyHeaders);
      reply.pipe(outgoing);
      reply.on('error', () => outgoing.destroy());
    });
    forwarded.on('error', (error) =>
      outgoing.headersSent ? outgoing.destroy() : outgoing.writeHead(502).end(`balancer: ${error.message}`),
    );
    incoming.pipe(forwarded);
  });
  await new Promise<void>((resolve) => balancer.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(balancer.address() as AddressInfo).port}`,
    uses: (server) => ready.get(server) === true,
    [Symbol.asyncDispose]: async () => {
      clearInterval(timer);
      agent.destroy();
      balancer.closeAllConnections();
      await new Promise((resolve) => balancer.close(resolve));
    },
  };
}
