import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import type { Receipt } from '../../src/billing/receipts/receipt.ts';
import { assertDescribed } from '../gateway/described-answers.ts';
import { by, type LimitsBench, startLimitsBench } from '../limits/limits-bench.ts';
import { type Answer, call, eventually, post } from '../support/http.ts';
import { upstreamKey } from '../support/start-simulated-weir.ts';

const documents = ['a bank', 'the coast', 'a coast'];
const asked = { query: 'the coast', documents };

/** The request of each vendor's client for the two best documents, and its path. */
const clients = {
  'cohere-v1': { path: '/v1/rerank', body: { ...asked, documents: documents.map((text) => ({ text })), rank_fields: ['text'], top_n: 2 } },
  'cohere-v2': { path: '/v2/rerank', body: { ...asked, top_n: 2 } },
  jina: { path: '/v1/rerank', body: { ...asked, top_n: 2 } },
  'jina, without a version': { path: '/rerank', body: { ...asked, top_n: 2 } },
  voyage: { path: '/v1/rerank', body: { ...asked, top_k: 2 } },
} as const;
type Client = keyof typeof clients;
const clientNames = Object.keys(clients) as Client[];

const upstreamNames = ['cohere', 'jina', 'voyage', 'vllm'] as const;
const unitNanoUsd = 2_000_000n;
const tokenNanoUsd = 1000n;

/** The members of an error that each vendor's clients read. */
function wordsOf(client: Client, { json }: Answer): unknown {
  return client.startsWith('cohere') ? json.message : json.detail;
}

describe('rankings', () => {
  let bench: LimitsBench;
  before(async () => {
    bench = await startLimitsBench({
      retries: { attemptsMax: 3 },
      upstreams: ({ openai }) => {
        const { origin } = new URL(openai);
        const server = { vendor: 'openai-compatible', apiKey: upstreamKey, forwardHeaders: ['x-simulator-*'] };
        return {
          cohere: { ...server, preset: 'cohere', baseUrl: `${origin}/cohere/compatibility/v1` },
          jina: { ...server, preset: 'jina', baseUrl: `${origin}/jina/v1` },
          voyage: { ...server, baseUrl: `${origin}/voyage/v1`, quirks: { rerank: 'voyage' } },
          vllm: { ...server, preset: 'vllm', baseUrl: `${origin}/v1` },
          plain: { ...server, baseUrl: `${origin}/v1` },
          broken: { vendor: 'openai-compatible', baseUrl: 'http://127.0.0.1:9/v1', quirks: { rerank: 'vllm' } },
        };
      },
      models: {
        ...Object.fromEntries(
          upstreamNames.map((upstream) => [
            upstream,
            { targets: [{ upstream, model: 'ranker' }], price: { input: '1', output: '0', searchUnit: '0.002' } },
          ]),
        ),
        second: {
          targets: [
            { upstream: 'broken', model: 'ranker' },
            { upstream: 'jina', model: 'ranker' },
          ],
        },
        away: { targets: [{ upstream: 'broken', model: 'ranker' }] },
        gone: { targets: [{ upstream: 'vllm', model: 'missing-ranker' }] },
        none: { targets: [{ upstream: 'plain', model: 'ranker' }] },
        chat: { targets: [{ upstream: 'vllm', model: 'ranker' }], kind: 'chat' },
      },
    });
  });
  after(() => bench[Symbol.asyncDispose]());

  const send = (client: Client, model: string, more: object = {}, headers: Readonly<Record<string, string>> = {}): Promise<Answer> => {
    const { path, body } = clients[client];
    return post(
      `${bench.weir.gatewayUrl}${path}`,
      { model, ...body, ...more },
      { authorization: `Bearer ${bench.weir.apiKey}`, ...headers },
    );
  };
  const get = (path: string, key = bench.weir.apiKey): Promise<Answer> => call(`${bench.weir.gatewayUrl}${path}`, by(key));

  for (const client of clientNames)
    for (const upstream of upstreamNames)
      test(`${client} in, ${upstream} out: the ranking, the books and the receipt match`, async () => {
        const reply = await send(client, upstream);
        assert.equal(reply.status, 200, reply.text);
        assertDescribed('POST', clients[client].path, reply);
        const list: readonly { index: number; document?: unknown }[] = client === 'voyage' ? reply.json.data : reply.json.results;
        assert.deepEqual(
          list.map(({ index }) => index),
          [1, 2],
        );
        const brings = client.startsWith('jina') ? { text: 'the coast' } : undefined;
        assert.deepEqual(list[0]?.document, brings);
        const row = await bench.ledger.row(String(reply.headers['x-weir-request-id']));
        const tokens = row.usage.inputTokens ?? 0;
        const isUnits = upstream === 'cohere';
        assert.deepEqual(row.usage, isUnits ? { searchUnits: 1 } : { inputTokens: tokens, outputTokens: 0 });
        assert.equal(tokens > 0, !isUnits);
        assert.deepEqual(
          [row.dialect, row.end, row.estimated, row.disputed, row.charge.amountNanoUsd],
          ['rerank', 'finished', false, undefined, isUnits ? unitNanoUsd : BigInt(tokens) * tokenNanoUsd],
        );
        const reported = { units: reply.json.meta?.billed_units.search_units, tokens: reply.json.usage?.total_tokens };
        if (client === 'voyage') assert.deepEqual(reported, { units: undefined, tokens: isUnits ? undefined : tokens });
        else assert.equal(reported.units, isUnits ? 1 : undefined);
        if (!isUnits && client.startsWith('cohere')) assert.equal(reply.json.meta.billed_units.input_tokens, tokens);
        const receipt: Receipt = (await get(String(reply.headers['x-weir-receipt']))).json;
        assert.deepEqual(
          receipt.rows[0]?.lines.filter(({ quantity }) => Number(quantity) > 0).map(({ meter }) => meter),
          [isUnits ? 'search_unit' : 'input'],
        );
      });

  test('a receipt is visible only to its user', async () => {
    const stranger = await bench.createKey('stranger');
    const reply = await send('jina', 'jina');
    assert.equal((await get(String(reply.headers['x-weir-receipt']), stranger)).status, 404);
  });

  test("an unreachable target is skipped, and if it is the only one the failure has the client's format", async () => {
    const reply = await send('cohere-v1', 'second');
    assert.equal(reply.status, 200, reply.text);
    const row = await bench.ledger.row(String(reply.headers['x-weir-request-id']));
    assert.deepEqual([row.upstream, row.failedAttempts?.map(({ upstream }) => upstream)], ['jina', ['broken']]);
    for (const client of clientNames) {
      const failed = await send(client, 'away');
      assert.equal(failed.status, 503, failed.text);
      assert.match(String(wordsOf(client, failed)), /model service/, client);
    }
  });

  test("an upstream's refusal has the client's format, and is free", async () => {
    for (const client of clientNames) {
      const refused = await send(client, 'gone');
      assert.equal(refused.status, 404, refused.text);
      assert.match(String(wordsOf(client, refused)), /does not know the model/, client);
      assert.equal((await bench.ledger.row(String(refused.headers['x-weir-request-id']))).charge.amountNanoUsd, 0n);
    }
  });

  test("an invalid request is refused in the client's format, names its field, and no upstream is called", async () => {
    const before = bench.simulator.records().length;
    for (const client of clientNames)
      for (const [model, more, status, words] of [
        ['jina', { documents: [] }, 400, /documents/],
        ['jina', { query: '' }, 400, /query/],
        ['no-such-model', {}, 404, /no-such-model/],
        ['none', {}, 400, /ranks documents/],
        ['chat', {}, 400, /writes texts/],
        ['voyage', { documents: Array.from({ length: 1001 }, () => ({ text: 'x' })) }, 400, /at most 1000 documents/],
      ] as const) {
        const refused = await send(client, model, more);
        assert.equal(refused.status, status, `${client} ${JSON.stringify(more).slice(0, 80)}: ${refused.text}`);
        assertDescribed('POST', clients[client].path, refused);
        assert.match(String(wordsOf(client, refused)), words, client);
      }
    assert.equal(bench.simulator.records().length, before);
    const unknown = await post(`${bench.weir.gatewayUrl}/v2/rerank`, { model: 'jina', ...asked }, { authorization: 'Bearer nonsense' });
    assert.deepEqual([unknown.status, typeof unknown.json.message], [401, 'string']);
  });

  test('a field that the upstream does not have is in the warning, and is refused if the key requires it', async () => {
    const reply = await send('cohere-v2', 'jina', { max_tokens_per_doc: 100 });
    assert.equal(reply.status, 200, reply.text);
    assert.match(String(reply.headers['x-gateway-warning']), /max_tokens_per_doc/);
    const receipt: Receipt = (await get(String(reply.headers['x-weir-receipt']))).json;
    assert.deepEqual(
      receipt.rows[0]?.notes.request.map(({ field }) => field),
      ['max_tokens_per_doc'],
    );
    const strict = await bench.createKey('strict', { strict: true });
    const refused = await send('cohere-v2', 'jina', { max_tokens_per_doc: 100 }, by(strict).headers);
    assert.deepEqual([refused.status, /max_tokens_per_doc/.test(refused.json.message)], [400, true], refused.text);
    const asked = { 'x-weir-strict': 'true' };
    const asStrict = await send('cohere-v2', 'jina', { max_tokens_per_doc: 100 }, asked);
    assert.deepEqual([asStrict.status, /max_tokens_per_doc/.test(asStrict.json.message)], [400, true], asStrict.text);
    // An upstream that has the field is called.
    assert.equal((await send('cohere-v2', 'cohere', { max_tokens_per_doc: 100 }, asked)).status, 200);
  });

  test("limits of requests and of money apply, in the client's format", async () => {
    const slow = by(await bench.createKey('slow', { rpm: '1' })).headers;
    assert.equal((await send('cohere-v1', 'jina', {}, slow)).status, 200);
    const limited = await send('cohere-v1', 'jina', {}, slow);
    assert.deepEqual([limited.status, /requests per minute/.test(limited.json.message)], [429, true], limited.text);
    const before = bench.simulator.records().length;
    // The hold is for a unit, which costs more than this.
    const poor = by(await bench.createKey('poor', { spendTotal: '0.0000001' })).headers;
    const unpaid = await send('cohere-v1', 'cohere', {}, poor);
    assert.deepEqual([unpaid.status, typeof unpaid.json.message], [429, 'string'], unpaid.text);
    assert.equal(bench.simulator.records().length, before);
  });

  test('a quote covers the cost of the ranking, and a key makes it safe to repeat', async () => {
    for (const upstream of upstreamNames) {
      const { path, body } = clients.voyage;
      const quoted = await post(
        `${bench.weir.gatewayUrl}/v1/quote`,
        { path, body: { model: upstream, ...body } },
        by(bench.weir.apiKey).headers,
      );
      assert.equal(quoted.status, 200, quoted.text);
      const idempotent = { 'idempotency-key': `rank-${upstream}` };
      const first = await send('voyage', upstream, {}, idempotent);
      const again = await send('voyage', upstream, {}, idempotent);
      assert.deepEqual([again.text, again.headers['idempotent-replayed']], [first.text, 'true']);
      const row = await bench.ledger.row(String(first.headers['x-weir-request-id']));
      assert.ok(row.charge.amountNanoUsd <= BigInt(quoted.json.maximum.nano_usd), quoted.text);
      assert.ok(row.charge.amountNanoUsd > 0n);
    }
  });

  test('metrics and logs name rankings as such', async () => {
    await send('jina', 'jina');
    await eventually(
      () => bench.weir.output(),
      (output) => /"dialect":"rerank"/.test(output),
    );
  });
});
