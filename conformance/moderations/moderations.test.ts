import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import OpenAI from 'openai';

import { by, type LimitsBench, startLimitsBench } from '../limits/limits-bench.ts';
import { type Answer, call, post } from '../support/http.ts';
import { upstreamKey } from '../support/start-simulated-weir.ts';

const model = 'omni-moderation-latest';

describe('moderations', () => {
  let bench: LimitsBench;
  let client: OpenAI;
  before(async () => {
    bench = await startLimitsBench({
      retries: { attemptsMax: 3 },
      upstreams: ({ openai }) => ({
        server: { vendor: 'openai-compatible', apiKey: upstreamKey, baseUrl: openai, quirks: { moderations: true } },
        plain: { vendor: 'openai-compatible', apiKey: upstreamKey, baseUrl: openai },
        broken: { vendor: 'openai-compatible', baseUrl: 'http://127.0.0.1:9/v1', quirks: { moderations: true } },
      }),
      models: {
        own: { targets: [{ upstream: 'server', model: 'judge' }], price: { input: '1', output: '0' } },
        none: { targets: [{ upstream: 'plain', model: 'judge' }] },
        away: { targets: [{ upstream: 'broken', model: 'judge' }] },
        second: {
          targets: [
            { upstream: 'broken', model: 'judge' },
            { upstream: 'openai', model },
          ],
        },
      },
    });
    client = new OpenAI({ baseURL: `${bench.weir.gatewayUrl}/v1`, apiKey: bench.weir.apiKey, maxRetries: 0 });
  });
  after(() => bench[Symbol.asyncDispose]());

  const send = (body: object, headers: Readonly<Record<string, string>> = {}): Promise<Answer> =>
    post(`${bench.weir.gatewayUrl}/v1/moderations`, body, { authorization: `Bearer ${bench.weir.apiKey}`, ...headers });

  test("each input has its verdict, under the vendor's model where none is named, and it costs nothing", async () => {
    const { data, response } = await client.moderations.create({ input: ['good morning', 'I will kill it'] }).withResponse();
    assert.deepEqual(
      data.results.map(({ flagged }) => flagged),
      [false, true],
    );
    assert.equal(data.model, model);
    const row = await bench.ledger.row(response.headers.get('x-weir-request-id') ?? '');
    assert.deepEqual(
      [row.dialect, row.upstream, row.upstreamModel, row.end, row.charge.amountNanoUsd, row.charge.priceId === undefined],
      ['openai-moderations', 'openai', model, 'finished', 0n, false],
    );
  });

  test('texts and pictures are one input', async () => {
    const image_url = { url: 'data:image/png;base64,iVBORw0KGgo=' };
    const judged = await client.moderations.create({
      model,
      input: [
        { type: 'text', text: 'a kite' },
        { type: 'image_url', image_url },
      ],
    });
    assert.deepEqual([judged.results.length, judged.results[0]?.category_applied_input_types.violence], [1, ['text', 'image']]);
  });

  test("a server of one's own is asked by its name for the model, and charged by its price", async () => {
    const input = 'x'.repeat(400);
    const reply = await send({ model: 'own', input });
    assert.deepEqual([reply.status, reply.json.model], [200, 'own'], reply.text);
    const id = String(reply.headers['x-weir-request-id']);
    const row = await bench.ledger.row(id);
    assert.deepEqual([row.upstreamModel, row.usage.inputTokens, row.estimated, row.charge.amountNanoUsd], ['judge', 100, true, 100_000n]);
    const stranger = await bench.createKey('stranger');
    assert.equal((await call(`${bench.weir.gatewayUrl}/v1/receipts/${id}`, by(bench.weir.apiKey))).status, 200);
    assert.equal((await call(`${bench.weir.gatewayUrl}/v1/receipts/${id}`, by(stranger))).status, 404);
    const question = { path: '/v1/moderations', body: { model: 'own', input } };
    const quoted = await post(`${bench.weir.gatewayUrl}/v1/quote`, question, by(bench.weir.apiKey).headers);
    assert.ok(BigInt(quoted.json.maximum.nano_usd) >= 100_000n, quoted.text);
  });

  test('a target that cannot be reached is passed over', async () => {
    const reply = await send({ model: 'second', input: 'x' });
    assert.deepEqual([reply.status, reply.json.model], [200, 'second'], reply.text);
    assert.equal((await send({ model: 'away', input: 'x' })).status, 503);
  });

  test('what is wrong is refused with its field before an upstream is asked', async () => {
    const before = bench.simulator.records().length;
    for (const [body, status, words] of [
      [{}, 400, /input/],
      [{ input: [] }, 400, /input/],
      [{ input: ['a', { type: 'text', text: 'b' }] }, 400, /either strings/],
      [{ model: 'no-such-model', input: 'x' }, 404, /no-such-model/],
      [{ model: 'none', input: 'x' }, 400, /judges content/],
      [{ model: 'gpt-4.1', input: 'x' }, 400, /writes texts/],
    ] as const) {
      const refused = await send(body);
      assert.equal(refused.status, status, refused.text);
      assert.match(refused.json.error.message, words);
      assert.deepEqual(Object.keys(refused.json.error), ['message', 'type', 'param', 'code']);
    }
    const chat = await post(
      `${bench.weir.gatewayUrl}/v1/chat/completions`,
      { model, messages: [{ role: 'user', content: 'x' }] },
      by(bench.weir.apiKey).headers,
    );
    assert.deepEqual([chat.status, /v1\/moderations/.test(chat.text)], [400, true], chat.text);
    assert.equal(bench.simulator.records().length, before);
  });

  test('limits hold, and a key makes a request safe to repeat', async () => {
    const slow = by(await bench.createKey('slow', { rpm: '1' })).headers;
    assert.equal((await send({ input: 'x' }, slow)).status, 200);
    assert.equal((await send({ input: 'x' }, slow)).status, 429);
    const first = await send({ input: 'x' }, { 'idempotency-key': 'judge' });
    const again = await send({ input: 'x' }, { 'idempotency-key': 'judge' });
    assert.deepEqual([again.text, again.headers['idempotent-replayed']], [first.text, 'true']);
  });
});
