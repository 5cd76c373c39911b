import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as requestByNode } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { after, before, test } from 'node:test';

import fc from 'fast-check';

import { headerBytesMax, scenarios } from './testing/reply-arbitraries.ts';
import { createUpstreamClient, type UpstreamClient } from './upstream-client.ts';

/** How a client read a reply: `ok` if it read it as whole. */
type Outcome = { readonly ok: boolean; readonly status: number; readonly body: string; readonly error?: string };

let server: Server;
let port: number;
let client: UpstreamClient;
let script: readonly Buffer[] = [];
/** Whether the current client has decided. */
let isSettled = false;
let playing: Promise<void> = Promise.resolve();
before(async () => {
  server = createServer({ noDelay: true }, (socket) => {
    socket.on('error', () => socket.destroy());
    let received = '';
    socket.on('data', (piece: Buffer) => {
      received += piece.toString('latin1');
      if (!received.includes('\r\n\r\n')) return;
      received = '';
      playing = play(socket);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
  client = open();
});
after(async () => {
  await client.close();
  server.close();
});

const open = (): UpstreamClient => createUpstreamClient({ origin: `http://127.0.0.1:${port}`, connectTimeoutMs: 20_000, headerBytesMax });

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** Sends a reply, and ends the connection if the reply does not end by itself. */
async function play(socket: Socket): Promise<void> {
  for (const piece of script) {
    socket.write(piece);
    await turn();
  }
  for (let turns = 0; turns < 3; turns++) await turn();
  if (!isSettled) socket.end();
}

/** The client's reading of a reply, after all bytes were sent, also those that follow the reply. */
async function settle(ask: () => Promise<Outcome>): Promise<Outcome> {
  isSettled = false;
  const outcome = await ask();
  isSettled = true;
  await playing;
  return outcome;
}

function askOurs(): Promise<Outcome> {
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  let status = 0;
  let body = '';
  client.send(
    { path: '/', method: 'POST', headers: {}, body: undefined },
    {
      onRequestStart: () => {},
      onResponseStart: (_controller, code) => (status = code),
      onResponseData: (_controller, piece) => (body += piece.toString('latin1')),
      onResponseEnd: () => resolve({ ok: true, status, body }),
      onResponseError: (_controller, error) => resolve({ ok: false, status, body, error: error.message }),
    },
  );
  return promise;
}

/** Node's own client, in its strict mode. */
function askNode(): Promise<Outcome> {
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  let status = 0;
  let body = '';
  let isWhole = (): boolean => false;
  const request = requestByNode({
    port,
    host: '127.0.0.1',
    method: 'POST',
    agent: false,
    maxHeaderSize: headerBytesMax,
    insecureHTTPParser: false,
  });
  const fail = (error: Error): void => {
    if (!isWhole()) resolve({ ok: false, status, body, error: error.message });
  };
  request.on('response', (response) => {
    status = response.statusCode ?? 0;
    isWhole = () => response.complete;
    response.on('data', (piece: Buffer) => (body += piece.toString('latin1')));
    response.on('end', () => resolve({ ok: response.complete, status, body }));
    response.on('error', fail);
  });
  request.on('upgrade', (_response, socket) => {
    socket.destroy();
    resolve({ ok: false, status: 101, body, error: 'upgraded' });
  });
  request.on('error', fail);
  request.end();
  return promise;
}

test('a reply that is read as whole is whole for Node too, with the same body', { timeout: 60_000 }, async () => {
  let whole = 0;
  const numRuns = 1500;
  await fc.assert(
    fc.asyncProperty(scenarios, async ({ reply: { text, mayBreak }, cuts }) => {
      const bytes = Buffer.from(text, 'latin1');
      const places = [0, ...cuts.map((cut) => Math.floor(cut * bytes.length)).toSorted((one, other) => one - other), bytes.length];
      script = places.slice(1).map((place, index) => bytes.subarray(places[index], place));
      const ours = await settle(askOurs);
      if (mayBreak) {
        // Bytes after such a reply may still arrive for the next request of its connection.
        await client.close();
        client = open();
      }
      const theirs = await settle(askNode);
      if (ours.ok) {
        whole += 1;
        assert.deepEqual(theirs, ours);
      } else assert.ok(mayBreak, `a proper reply was refused: ${String(ours.error)}`);
    }),
    { numRuns, seed: 20_261_121 },
  );
  assert.ok(whole > numRuns / 4, `${whole} replies were whole`);
});
