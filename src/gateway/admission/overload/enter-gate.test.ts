import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';

import { request } from 'undici';

import { chatDialects } from '../../../dialects/registry.ts';
import type { GatewayError } from '../../../inference/gateway-error.ts';
import { readBody } from '../../../platform/http/read-body.ts';
import { enterGate, expectedBytes } from './enter-gate.ts';
import { FairGate, type GateBounds } from './fair-gate.ts';
import type { Gatekeeper } from './gatekeeper.ts';

const bounds: GateBounds = { calls: 1, spareCalls: 0, bytes: 1000, waiting: 0, waitMs: 50 };
const callId = 'req_01aaaaaaaaaaaaaaaaaaaaaaaa';

/** Waits for an event without a callback, for half a minute at most. */
async function eventually(isThere: () => boolean): Promise<void> {
  const untilMs = performance.now() + 30_000;
  while (!isThere()) {
    assert.ok(performance.now() < untilMs, 'not there in time');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

describe('calls pass the gate or are answered', () => {
  let server: Server;
  let url: string;
  let gate: FairGate;
  let refusals = 0;
  let { voice } = chatDialects['openai-chat'];
  let closes = false;
  const told: string[] = [];
  const reportOf = (response: ServerResponse) => ({
    refused: ({ code }: GatewayError) => void told.push(code),
    whenClosed: (callback: () => void) => void response.on('close', callback),
  });

  const keeper: Gatekeeper = {
    admit: (tenant, bytes, hasLeft) => gate.admit(tenant, bytes, hasLeft),
    retryAfterSeconds: () => 3,
    closesConnections: () => closes,
    wasRefused: () => void (refusals += 1),
    state: () => {
      throw new Error('nobody asks');
    },
    close: () => {},
  };
  const answer = (incoming: IncomingMessage, response: ServerResponse): void => {
    const entered = enterGate(keeper, { callId, request: incoming, response, voice }, reportOf(response), 'a');
    void Promise.resolve(entered).then(async (admission) => {
      if (admission === undefined) return;
      const bytes = await readBody(incoming, 500);
      admission.holdBytes(bytes.length);
      response.end(`served ${bytes.length}`);
    });
  };
  const send = (): ReturnType<typeof request> => request(url, { method: 'POST', body: 'x'.repeat(100), reset: true });

  before(async () => {
    server = createServer(answer);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  });
  after(() => server.close());

  const newGate = (other: Partial<GateBounds> = {}): void => {
    gate = new FairGate({ nowMs: () => 0, wakeAfter: () => {}, bounds: { ...bounds, ...other } });
  };

  test('a served call releases its place when its reply is over', async () => {
    newGate();
    for (let call = 0; call < 3; call += 1) {
      const { statusCode, body } = await send();
      assert.equal(statusCode, 200);
      await body.text();
      await eventually(() => gate.counts().inFlight === 0 && gate.counts().bytes === 0);
    }
  });

  for (const { id } of Object.values(chatDialects)) {
    test(`a refused call is answered in the dialect ${id}`, async () => {
      newGate();
      ({ voice } = chatDialects[id]);
      void gate.admit('a', 10, () => false);
      const before = refusals;
      const { statusCode, headers, body } = await send();
      const text = await body.text();
      assert.equal(statusCode, id === 'anthropic-messages' ? 529 : 503);
      assert.equal(headers['retry-after'], '3');
      assert.equal(headers['x-weir-request-id'], callId);
      assert.match(text, /overloaded/);
      assert.doesNotMatch(text + JSON.stringify(headers), /~/);
      if (id === 'anthropic-messages') assert.match(text, new RegExp(`"type":"overloaded_error".*${callId}`));
      assert.equal(Number(headers['content-length']), text.length);
      assert.equal(refusals, before + 1);
      assert.equal(told.at(-1), 'overloaded');
    });
  }

  test('a call that waited is served whole, although its body arrived meanwhile; one without a client takes no place', async () => {
    newGate({ waiting: 5 });
    const place = gate.admit('a', 10, () => false);
    assert.ok(place !== undefined && !(place instanceof Promise));
    const left = new AbortController();
    const leaving = request(url, { method: 'POST', body: 'x'.repeat(100), signal: left.signal });
    await eventually(() => gate.counts().waiting === 1);
    left.abort();
    await assert.rejects(leaving);
    const waiting = send();
    await eventually(() => gate.counts().delayed === 2);
    place.release();
    const { body } = await waiting;
    assert.equal(await body.text(), 'served 100');
    await eventually(() => gate.counts().inFlight === 0);
    assert.equal(gate.counts().admitted, 2);
  });

  test('short memory ends the connection with the answer', async () => {
    newGate();
    closes = true;
    const { headers, body } = await request(url, { method: 'POST', body: 'x' });
    await body.text();
    assert.equal(headers['connection'], 'close');
  });
});

test('the declared size of a body counts before it arrives, up to a bound', () => {
  const of = (headers: Record<string, string>): number => expectedBytes({ headers } as unknown as IncomingMessage);
  assert.equal(of({ 'content-length': '20' }), 20);
  assert.equal(of({ 'content-length': '30000000' }), 1024 * 1024);
  assert.equal(of({ 'transfer-encoding': 'chunked' }), 1024 * 1024);
  assert.equal(of({}), 0);
});
