import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, describe, test } from 'node:test';

import OpenAI from 'openai';

import { call, eventually } from '../support/http.ts';
import { type HeldUpstream, startHeldUpstream } from '../support/start-held-upstream.ts';
import { type SimulatedWeir, startSimulatedGateway } from '../support/start-simulated-weir.ts';

const model = 'gpt-4.1';
const text = Array.from({ length: 200 }, (_, index) => `word${index}`).join(' ');
const slow = { headers: { 'x-simulator-text': encodeURIComponent(text), 'x-simulator-pace': 'tokensPerSecond=5;tokensPerFrame=1' } };

/** A lock that remains would block the conversation for the time of a whole call; these calls are far shorter. */
describe('a conversation is unlocked when its response has ended, however it ended', () => {
  let held: HeldUpstream;
  let running: SimulatedWeir;
  let client: OpenAI;
  before(async () => {
    held = await startHeldUpstream();
    running = await startSimulatedGateway({
      upstreams: () => ({ held: held.upstream }),
      models: { held: { targets: [{ upstream: 'held', model: 'held' }] } },
    });
    client = new OpenAI({ baseURL: `${running.weir.gatewayUrl}/v1`, apiKey: running.weir.apiKey, maxRetries: 0 });
  });
  after(async () => {
    await running[Symbol.asyncDispose]();
    await held.close();
  });

  const goesOn = (conversation: string) =>
    eventually(
      () =>
        client.responses.create({ model, conversation, input: 'go on' }).catch((error: unknown) => {
          assert.ok(error instanceof OpenAI.APIError && error.code === 'conversation_locked', String(error));
          return undefined;
        }),
      (response) => response !== undefined,
      // The slow responses would take longer.
      30_000,
    );

  test('it was deleted while it ran in the background', async () => {
    const { id: conversation } = await client.conversations.create();
    const queued = await client.responses.create({ model, conversation, input: 'Hello', background: true }, slow);
    await assert.rejects(client.responses.create({ model, conversation, input: 'me too' }), { code: 'conversation_locked' });
    await client.responses.delete(queued.id);
    await goesOn(conversation);
  });

  test('it was cancelled', async () => {
    const { id: conversation } = await client.conversations.create();
    const queued = await client.responses.create({ model, conversation, input: 'Hello', background: true }, slow);
    await client.responses.cancel(queued.id);
    await goesOn(conversation);
  });

  test('its client disconnected in the middle, or before any output', async () => {
    for (const waitMs of [0, 1, 5, 20, 300]) {
      const { id: conversation } = await client.conversations.create();
      await leave({ model, conversation, input: 'Hello', stream: true }, waitMs);
      await goesOn(conversation);
    }
  });

  test('its model does not exist', async () => {
    const { id: conversation } = await client.conversations.create();
    await assert.rejects(client.responses.create({ model: 'no-such-model', conversation, input: 'x' }), OpenAI.APIError);
    await goesOn(conversation);
  });

  test('of two simultaneous requests one is refused, and the turn of the other is stored', async () => {
    const { id: conversation } = await client.conversations.create();
    // The first is answered once the other has been refused, however late that is.
    const both = await Promise.allSettled(
      [1, 2].map((one) => client.responses.create({ model: 'held', conversation, input: `from ${one}` }).finally(held.release)),
    );
    assert.equal(both.filter(({ status }) => status === 'fulfilled').length, 1);
    const items = await client.conversations.items.list(conversation);
    assert.equal(items.data.length, 2);
  });

  /** Sends a request and disconnects after a while, whatever has arrived. */
  async function leave(body: object, afterMs: number): Promise<void> {
    const { hostname, port } = new URL(running.weir.gatewayUrl);
    const sent = JSON.stringify(body);
    const headers = [
      'POST /v1/responses HTTP/1.1',
      `host: ${hostname}`,
      `authorization: Bearer ${running.weir.apiKey}`,
      'content-type: application/json',
      `content-length: ${Buffer.byteLength(sent)}`,
      ...Object.entries(slow.headers).map(([name, value]) => `${name}: ${value}`),
    ];
    const socket = connect(Number(port), hostname);
    await new Promise<void>((resolve, reject) => {
      socket.once('error', reject);
      socket.write(`${headers.join('\r\n')}\r\n\r\n${sent}`, () => setTimeout(resolve, afterMs));
    });
    socket.destroy();
  }

  test('a body above the limit is refused at the routes of conversations too', async () => {
    const answer = await call(`${running.weir.gatewayUrl}/v1/conversations`, {
      headers: { authorization: `Bearer ${running.weir.apiKey}`, 'content-type': 'application/json' },
      body: Buffer.alloc(80 * 1024 * 1024, ' '),
    }).catch((error: unknown) => {
      assert.match(String(error), /ECONNRESET|EPIPE|socket|other side/i);
      return undefined;
    });
    assert.ok(answer === undefined || answer.status === 413, String(answer?.status));
  });
});
