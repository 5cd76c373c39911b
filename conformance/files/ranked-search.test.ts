import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import OpenAI, { toFile } from 'openai';

import type { Receipt } from '../../src/billing/receipts/receipt.ts';
import { by } from '../limits/limits-bench.ts';
import { openLedger } from '../support/read-ledger.ts';
import { call } from '../support/http.ts';
import { type SimulatedWeir, startSimulatedGateway, upstreamKey } from '../support/start-simulated-weir.ts';

const contents = {
  'tides.txt': 'The spring tide at Eastquay reaches seven metres, and the neap tide four. '.repeat(4),
  'harbour.txt': 'The harbour master of Eastquay reads the tide tables.',
};

describe('the results of a file search are ordered by a ranking model', () => {
  let running: SimulatedWeir;
  let client: OpenAI;
  let storeId = '';
  before(async () => {
    running = await startSimulatedGateway({
      retries: {},
      upstreams: ({ openai }) => ({
        ranks: { vendor: 'openai-compatible', preset: 'jina', apiKey: upstreamKey, baseUrl: `${new URL(openai).origin}/jina/v1` },
      }),
      models: { ranker: { targets: [{ upstream: 'ranks', model: 'ranker' }], price: { input: '1', output: '0' } } },
      runsTools: true,
      config: { tools: { fileSearch: { rerank: { model: 'ranker' } } } },
    });
    client = new OpenAI({ baseURL: `${running.weir.gatewayUrl}/v1`, apiKey: running.weir.apiKey, maxRetries: 0 });
    storeId = (await client.vectorStores.create({})).id;
    for (const [name, content] of Object.entries(contents)) {
      const file = await client.vectorStores.files.uploadAndPoll(storeId, await toFile(Buffer.from(content), name), { pollIntervalMs: 50 });
      assert.equal(file.status, 'completed', name);
    }
  });
  after(() => running[Symbol.asyncDispose]());

  const rankings = () => running.simulator.records().filter(({ path }) => path === '/jina/v1/rerank');

  test('a search of a store has the scores of the model, and none is called without a ranker', async () => {
    const query = 'Eastquay harbour tide';
    const { data } = await client.vectorStores.search(storeId, { query });
    // The simulated model counts the words of the query in a text.
    assert.deepEqual(
      data.map(({ filename, score }) => [filename, score]),
      [
        ['harbour.txt', 0.99],
        ['tides.txt', 0.663333],
      ],
    );
    const { length: asked } = rankings();
    assert.equal(asked, 1);
    const plain = await client.vectorStores.search(storeId, { query, ranking_options: { ranker: 'none' } });
    assert.equal(plain.data.length, 2);
    assert.equal(rankings().length, asked);
  });

  test('a ranking for a call is a part of it in its receipt and in the books', async () => {
    const { data, response } = await client.responses
      .create({
        model: 'gpt-4.1',
        input: 'Search my files for: harbour master',
        tools: [{ type: 'file_search', vector_store_ids: [storeId] }],
      })
      .withResponse();
    assert.equal(data.status, 'completed');
    const callId = response.headers.get('x-weir-request-id') ?? '';
    const answer = await call(`${running.weir.gatewayUrl}/v1/receipts/${callId}`, by(running.weir.apiKey));
    const { rows } = answer.json as Receipt;
    const ledger = await openLedger(running.weir.dataDirectory);
    const booked = await ledger.rows(callId, rows.length);
    await ledger.close();
    const ranking = booked.find(({ dialect }) => dialect === 'rerank');
    assert.ok(ranking, answer.text);
    assert.deepEqual(
      [ranking.callId, ranking.parentCallId, ranking.keyName, ranking.upstreamModel, ranking.charge.amountNanoUsd > 0n],
      [`${callId}.rank.1`, callId, 'file search', 'ranker', true],
    );
    assert.ok(rows.some(({ id }) => id === ranking.callId));
  });
});
