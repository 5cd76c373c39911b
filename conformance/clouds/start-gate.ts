import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** A gate in front of a simulated service: it can be shut, and knows which reasoning the service has written. */
export type Gate = AsyncDisposable & {
  readonly url: string;
  /** A shut gate resets connections, or answers with a status. */
  isShut: 'reset' | 503 | false;
  /**
   * Proofs of reasoning that the service accepts. Undefined: all that it recognises itself. Two accounts of one vendor
   * need not accept each other's.
   */
  own: Set<string> | undefined;
  /** Bodies of the requests that passed, as text. */
  readonly passed: string[];
  /** Requests that were refused because of their reasoning. */
  refused: number;
};

const proofs = /"(?:signature|encrypted_content|thoughtSignature)":\s*"([^"]+)"/g;

/** Google documents it for calls that another model made. */
const documentedDummy = 'skip_thought_signature_validator';

/** The vendor's refusal of reasoning that it has not written. */
export type Refusal = { readonly headers?: Readonly<Record<string, string>>; readonly body: object };

export async function startGate(target: string, refusal: Refusal): Promise<Gate> {
  const to = new URL(target);
  const answer = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (gate.isShut === 'reset') return void incoming.socket.resetAndDestroy();
    const body = await buffer(incoming);
    if (gate.isShut !== false) return void response.writeHead(gate.isShut, { 'content-type': 'application/json' }).end('{}');
    const text = body.toString();
    const { own } = gate;
    if (own !== undefined && [...text.matchAll(proofs)].some(([, proof = '']) => !own.has(proof) && proof !== documentedDummy)) {
      gate.refused += 1;
      return void response.writeHead(400, { 'content-type': 'application/json', ...refusal.headers }).end(JSON.stringify(refusal.body));
    }
    gate.passed.push(text);
    const { method, url, headers } = incoming;
    const forwarded = request({ host: to.hostname, port: to.port, method, path: url, headers });
    forwarded.on('response', (reply) => {
      response.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(response);
    });
    forwarded.on('error', () => response.destroy());
    forwarded.end(body);
  };
  const server = createServer((incoming, response) => void answer(incoming, response).catch(() => response.destroy()));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const gate: Gate = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${to.pathname.replace(/\/$/, '')}`,
    isShut: false,
    own: undefined,
    passed: [],
    refused: 0,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return gate;
}
