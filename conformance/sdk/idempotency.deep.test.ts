import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';

import { makeWav } from '../audio/start-audio-upstream.ts';
import { type SimulatedWeir, startSimulatedGateway } from '../support/start-simulated-weir.ts';

/** A network that loses the answer to the first request of each client, after the gateway has begun to send it. */
function createLossyFetch(): { readonly fetch: typeof fetch; readonly sent: () => number } {
  let sent = 0;
  return {
    sent: () => sent,
    fetch: async (input, init) => {
      sent += 1;
      const answer = await fetch(input, init);
      if (sent > 1) return answer;
      await answer.body?.cancel();
      throw new TypeError('the connection was lost');
    },
  };
}

const messages = [{ role: 'user' as const, content: 'Hello' }];

/**
 * The official SDKs retry automatically: with a key this is one call, and the second attempt gets the answer of the
 * first.
 */
describe('Idempotency-Key of the official SDKs', () => {
  let running: SimulatedWeir;
  before(async () => {
    running = await startSimulatedGateway();
  });
  after(() => running[Symbol.asyncDispose]());

  const requestsOf = (tag: string) => running.simulator.records().filter((record) => record.tag === tag);
  const optionsOf = (key: string) => ({ headers: { 'Idempotency-Key': key, 'x-simulator-tag': key } });
  const openai = (lossy: typeof fetch) =>
    new OpenAI({ baseURL: `${running.weir.gatewayUrl}/v1`, apiKey: running.weir.apiKey, fetch: lossy, maxRetries: 2 });
  const anthropic = (lossy: typeof fetch) =>
    new Anthropic({ baseURL: running.weir.gatewayUrl, apiKey: running.weir.apiKey, fetch: lossy, maxRetries: 2 });
  const ask = { model: 'claude-sonnet-4-5', max_tokens: 200, messages };
  const drain = async (stream: AsyncIterable<unknown>): Promise<number> => (await Array.fromAsync(stream)).length;

  const calls: readonly { readonly name: string; readonly call: (lossy: typeof fetch, key: string) => Promise<unknown> }[] = [
    { name: 'openai, whole', call: (lossy, key) => openai(lossy).chat.completions.create({ model: 'gpt-4.1', messages }, optionsOf(key)) },
    {
      name: 'openai, streamed',
      call: async (lossy, key) =>
        drain(await openai(lossy).chat.completions.create({ model: 'gpt-4.1', messages, stream: true }, optionsOf(key))),
    },
    {
      name: 'openai, responses',
      call: (lossy, key) => openai(lossy).responses.stream({ model: 'gpt-5-mini', input: 'Hello' }, optionsOf(key)).finalResponse(),
    },
    {
      name: 'openai, transcription',
      call: (lossy, key) => {
        const file = new File([new Uint8Array(makeWav(1))], 'a.wav', { type: 'audio/wav' });
        return openai(lossy).audio.transcriptions.create({ model: 'gpt-4o-mini-transcribe', file }, optionsOf(key));
      },
    },
    { name: 'anthropic, whole', call: (lossy, key) => anthropic(lossy).messages.create(ask, optionsOf(key)) },
    { name: 'anthropic, streamed', call: (lossy, key) => anthropic(lossy).messages.stream(ask, optionsOf(key)).finalMessage() },
  ];
  for (const { name, call } of calls)
    test(`${name}: an answer that was lost is not generated twice`, async () => {
      const key = name.replaceAll(/\W+/g, '-');
      const lossy = createLossyFetch();
      assert.ok(await call(lossy.fetch, key));
      assert.ok(lossy.sent() > 1);
      assert.equal(requestsOf(key).length, 1);
    });

  test('a key that was used for another request is a ConflictError, and is not retried', async () => {
    const { fetch: counted, sent } = createLossyFetch();
    const client = openai(counted);
    await client.chat.completions.create({ model: 'gpt-4.1', messages }, optionsOf('conflict'));
    const before = sent();
    const other = { model: 'gpt-4.1', messages: [{ role: 'user' as const, content: 'Other' }] };
    await assert.rejects(client.chat.completions.create(other, optionsOf('conflict')), OpenAI.ConflictError);
    assert.equal(sent() - before, 1);
  });

  test('a repeated answer has the id of its call for the SDK', async () => {
    const client = openai(fetch);
    const send = () => client.chat.completions.create({ model: 'gpt-4.1', messages }, optionsOf('raw')).withResponse();
    const [first, again] = [await send(), await send()];
    assert.deepEqual(again.data, first.data);
    assert.equal(again.response.headers.get('idempotent-replayed'), 'true');
    assert.equal(again.response.headers.get('x-weir-request-id'), first.response.headers.get('x-weir-request-id'));
  });
});
