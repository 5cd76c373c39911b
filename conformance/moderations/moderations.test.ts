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

  test("each input has its verdict, by the vendor's model if none is named, and it is free", async () => {
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

  test('texts and images are one input', async () => {
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

  test('a self-hosted server gets its own name for the model, and its price is charged', async () => {
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

  test('an unreachable target is skipped', async () => {
    const reply = await send({ model: 'second', input: 'x' });
    assert.deepEqual([reply.status, reply.json.model], [200, 'second'], reply.text);
    assert.equal((await send({ model: 'away', input: 'x' })).status, 503);
  });

  test('an invalid request is refused with its field before an upstream is called', async () => {
    const before = bench.simulator.records().length;
    for (const [body, status, words] of [
      [{}, 400, /input/],
      [{ input: [] }, 400, /input/],
      [{ input: ['a', { type: 'text', text: 'b' }] }, 400, /either strings/],
      [{ model: 'no-such-model', input: 'x' }, 404, /no-such-model/],
      [{ model: 'none', input: 'x' }, 400, /moderates content/],
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

  test('limits apply, and a key makes a request safe to repeat', async () => {
    const slow = by(await bench.createKey('slow', { rpm: '1' })).headers;
    assert.equal((await send({ input: 'x' }, slow)).status, 200);
    assert.equal((await send({ input: 'x' }, slow)).status, 429);
    const first = await send({ input: 'x' }, { 'idempotency-key': 'judge' });
    const again = await send({ input: 'x' }, { 'idempotency-key': 'judge' });
    assert.deepEqual([again.text, again.headers['idempotent-replayed']], [first.text, 'true']);
  });
});

/** Scores of a chat model, as its text has them. */
const scores = (score: number, more: object = {}): object => ({
  hate: score,
  hate_threatening: score,
  harassment: score,
  harassment_threatening: score,
  illicit: score,
  illicit_violent: score,
  self_harm: score,
  self_harm_intent: score,
  self_harm_instructions: score,
  sexual: score,
  sexual_minors: score,
  violence: score,
  violence_graphic: score,
  ...more,
});
const said = (answer: unknown): Record<string, string> => ({ 'x-simulator-text': encodeURIComponent(JSON.stringify(answer)) });

describe('moderations by a chat model as a stand-in', () => {
  let bench: LimitsBench;
  before(async () => {
    bench = await startLimitsBench({
      retries: { attemptsMax: 1 },
      upstreams: ({ openai, anthropic, gemini }) => ({
        // Named like the vendors' models, so that no test judges content.
        openai: { vendor: 'openai-compatible', apiKey: upstreamKey, baseUrl: openai, forwardHeaders: ['x-simulator-*'] },
        anthropic: { vendor: 'anthropic', apiKey: upstreamKey, baseUrl: anthropic, forwardHeaders: ['x-simulator-*'] },
        gemini: { vendor: 'gemini', apiKey: upstreamKey, baseUrl: gemini, forwardHeaders: ['x-simulator-*'] },
      }),
      models: {
        judge: { targets: [{ upstream: 'anthropic', model: 'claude-sonnet-4-5' }] },
        google: { targets: [{ upstream: 'gemini', model: 'gemini-2.5-flash-lite' }] },
      },
      config: { moderations: { standIn: 'judge' } },
    });
  });
  after(() => bench[Symbol.asyncDispose]());

  const client = (headers: Readonly<Record<string, string>> = {}): OpenAI =>
    new OpenAI({ baseURL: `${bench.weir.gatewayUrl}/v1`, apiKey: bench.weir.apiKey, maxRetries: 0, defaultHeaders: { ...headers } });

  test("OpenAI's client gets the vendor's format with the name of the judging model, and the books have its chat call", async () => {
    const answer = { input_1: scores(0.01), input_2: scores(0.02, { violence: 0.9 }) };
    const { data, response } = await client(said(answer))
      .moderations.create({ model, input: ['good morning', 'I will kill it'] })
      .withResponse();
    assert.deepEqual([data.model, data.results.length, Object.keys(data.results[0]?.categories ?? {}).length], ['judge', 2, 13]);
    assert.deepEqual(
      data.results.map(({ flagged, categories, category_scores, category_applied_input_types }) => [
        flagged,
        categories.violence,
        category_scores.violence,
        category_applied_input_types.violence,
      ]),
      [
        [false, false, 0.01, ['text']],
        [true, true, 0.9, ['text']],
      ],
    );
    assert.match(response.headers.get('x-gateway-warning') ?? '', /emulated model .*chat model judge judged/);
    const row = await bench.ledger.row(response.headers.get('x-weir-request-id') ?? '');
    assert.deepEqual(
      [
        row.dialect,
        row.requestedModel,
        row.upstreamModel,
        row.translation?.upstreamDialect,
        row.estimated,
        row.charge.priceId !== undefined,
      ],
      ['openai-moderations', 'judge', 'claude-sonnet-4-5', 'anthropic-messages', false, true],
    );
    assert.ok((row.usage.inputTokens ?? 0) > 0 && (row.usage.outputTokens ?? 0) > 0 && row.charge.amountNanoUsd > 0n);
    const question = { path: '/v1/moderations', body: { model, input: ['good morning', 'I will kill it'] } };
    const quoted = await post(`${bench.weir.gatewayUrl}/v1/quote`, question, by(bench.weir.apiKey).headers);
    assert.ok(BigInt(quoted.json.maximum.nano_usd) >= row.charge.amountNanoUsd, quoted.text);
  });

  test('the model receives an image in the format of its vendor', async () => {
    const url = 'data:image/png;base64,iVBORw0KGgo=';
    const judged = await client(said({ input_1: scores(0.1, { sexual: 0.6 }) })).moderations.create({
      input: [
        { type: 'text', text: 'a kite' },
        { type: 'image_url', image_url: { url } },
      ],
    });
    assert.deepEqual([judged.results[0]?.flagged, judged.results[0]?.category_applied_input_types.sexual], [true, ['text', 'image']]);
    assert.match(JSON.stringify(bench.simulator.records().at(-1)?.requestBody), /iVBORw0KGgo=/);
    const asked = bench.simulator.records().length;
    const image_url = { url: 'http://127.0.0.1/a.png' };
    const inside = await post(
      `${bench.weir.gatewayUrl}/v1/moderations`,
      { input: [{ type: 'image_url', image_url }] },
      by(bench.weir.apiKey).headers,
    );
    assert.deepEqual([inside.status, inside.json.error.param, bench.simulator.records().length], [400, 'input', asked], inside.text);
  });

  test('an answer that leaves an input unjudged, or refuses, is an error and not a harmless verdict', async () => {
    for (const answer of [{ input_1: scores(0.1) }, { input_1: scores(0.1), input_2: { hate: 0 } }, 'I cannot judge this.']) {
      const failed = await post(
        `${bench.weir.gatewayUrl}/v1/moderations`,
        { input: ['one', 'two'] },
        { ...by(bench.weir.apiKey).headers, ...said(answer) },
      );
      assert.deepEqual([failed.status, typeof failed.json.error.message], [502, 'string'], failed.text);
    }
  });

  test("it only replaces the vendor's models, and accepts as many inputs as one answer judges", async () => {
    const send = (body: object): Promise<Answer> => post(`${bench.weir.gatewayUrl}/v1/moderations`, body, by(bench.weir.apiKey).headers);
    for (const [body, status, words] of [
      [{ model: 'no-such-model', input: 'x' }, 404, /no-such-model/],
      [{ model: 'google', input: 'x' }, 400, /moderates content/],
      [{ input: Array.from({ length: 17 }, () => 'x') }, 400, /at most 16 inputs/],
    ] as const) {
      const refused = await send(body);
      assert.deepEqual([refused.status, words.test(refused.json.error.message)], [status, true], refused.text);
    }
  });
});
