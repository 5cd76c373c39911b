import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import type { Receipt } from '../../src/billing/receipts/receipt.ts';
import { verifyReceipt } from '../../src/billing/receipts/verify-receipt.ts';
import { readExposition, sumSamples } from '../../src/platform/metrics/testing/read-exposition.ts';
import { runCommand } from '../programs/run-command.ts';
import { type Ledger, openLedger } from '../support/read-ledger.ts';
import { call, eventually, post } from '../support/http.ts';
import { type SimulatedWeir, startSimulatedGateway, upstreamKey } from '../support/start-simulated-weir.ts';

/** `prices.unlisted: free`, the default: a call without a price is made, and every report marks it as unpriced. */
let running: SimulatedWeir;
let ledger: Ledger;
before(async () => {
  running = await startSimulatedGateway({
    models: {
      local: { targets: [{ upstream: 'compatible', model: 'gpt-4.1' }] },
      'given-away': { targets: [{ upstream: 'compatible', model: 'gpt-4.1' }], price: { input: '0', output: '0' } },
      // Its only price is one for minutes of audio.
      minutes: { targets: [{ upstream: 'compatible', model: 'gpt-4.1' }], price: { audioMinute: '0.006' } },
      'chat-of-embedder': { targets: [{ upstream: 'openai', model: 'text-embedding-3-small' }] },
      'said-to-chat': { targets: [{ upstream: 'openai', model: 'text-embedding-3-small' }], kind: 'chat' },
    },
    upstreams: ({ openai }) => ({ compatible: { vendor: 'openai-compatible', baseUrl: openai, apiKey: upstreamKey } }),
    weir: { environment: { WEIR_METRICS_PORT: '0' } },
  });
  ledger = await openLedger(running.weir.dataDirectory);
});
after(async () => {
  await ledger.close();
  await running[Symbol.asyncDispose]();
});

const weir = (...words: readonly string[]) => runCommand(['usage', ...words], { WEIR_DATA_DIR: running.weir.dataDirectory });

const bodies = {
  '/v1/chat/completions': (model: string) => ({ model, messages: [{ role: 'user', content: 'hi' }] }),
  '/v1/responses': (model: string) => ({ model, input: 'hi', store: false }),
  '/v1/messages': (model: string) => ({ model, max_tokens: 50, messages: [{ role: 'user', content: 'hi' }] }),
} as const;
const paths = Object.keys(bodies) as (keyof typeof bodies)[];
const ask = (path: keyof typeof bodies, model: string) =>
  post(running.weir.gatewayUrl + path, bodies[path](model), {
    authorization: `Bearer ${running.weir.apiKey}`,
    ...(path === '/v1/messages' ? { 'anthropic-version': '2023-06-01' } : {}),
  });
const askGemini = (model: string) =>
  post(
    `${running.weir.gatewayUrl}/v1beta/models/${model}:generateContent`,
    { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] },
    { 'x-goog-api-key': running.weir.apiKey },
  );

async function receiptOf(callId: string): Promise<Receipt> {
  const { gatewayUrl, apiKey } = running.weir;
  const answer = await eventually(
    () => call(`${gatewayUrl}/v1/receipts/${callId}`, { headers: { authorization: `Bearer ${apiKey}` } }),
    ({ status }) => status === 200,
  );
  assert.deepEqual(verifyReceipt(answer.json).problems, []);
  return answer.json as Receipt;
}

test('B15: a call that is charged 0 because it has no price is marked on its receipt, counted, and named by weir usage', async () => {
  for (const model of ['local', 'minutes', 'given-away']) {
    const answer = await ask('/v1/chat/completions', model);
    assert.equal(answer.status, 200, answer.text);
    const callId = String(answer.headers['x-weir-request-id']);
    const [row] = (await receiptOf(callId)).rows;
    assert.deepEqual([row?.amount.nano_usd, row?.price.id], ['0', model === 'given-away' ? 'override/given-away' : null], model);
    await ledger.row(callId);
  }
  const listed = JSON.parse((await weir('--unpriced', '--json')).stdout) as readonly { readonly model: string; readonly calls: number }[];
  assert.deepEqual(
    listed.map(({ model, calls }) => [model, calls]),
    [
      ['local', 1],
      ['minutes', 1],
    ],
  );
  assert.match((await weir('--unpriced')).stdout, /^MODEL +CALLS +LAST\nlocal +1 +\d{4}-/);
  assert.match((await weir()).stdout, /no price, so charged 0: 2 calls to local, minutes; weir usage --unpriced lists them/);
  assert.doesNotMatch((await weir('--model', 'given-away')).stdout, /no price/);
  const metrics = readExposition((await call(running.weir.metricsUrl)).text);
  assert.equal(sumSamples(metrics, 'weir_unpriced_calls_total'), 2);
});

test('B15: a chat with a model of another kind reaches no vendor, on any chat endpoint, and its answer names the endpoint that serves the model', async () => {
  const before = running.simulator.records().length;
  for (const [model, endpoint] of [
    ['text-embedding-3-small', '/v1/embeddings'],
    ['chat-of-embedder', '/v1/embeddings'],
    ['tts-1', '/v1/audio/speech'],
    ['whisper-1', '/v1/audio/transcriptions'],
    ['sora-2', '/v1/videos'],
    ['grok-imagine-video', '/v1/videos'],
  ] as const)
    for (const answer of [...(await Promise.all(paths.map((path) => ask(path, model)))), await askGemini(model)]) {
      assert.equal(answer.status, 400, `${model}: ${answer.text}`);
      assert.ok(answer.text.includes(endpoint) && answer.text.includes(model), answer.text);
    }
  assert.equal(running.simulator.records().length, before);
  const quoted = await post(
    `${running.weir.gatewayUrl}/v1/quote`,
    { path: '/v1/chat/completions', body: bodies['/v1/chat/completions']('text-embedding-3-small') },
    { authorization: `Bearer ${running.weir.apiKey}` },
  );
  assert.equal(quoted.status, 400, quoted.text);
  await ask('/v1/chat/completions', 'said-to-chat');
  assert.equal(running.simulator.records().length, before + 1, 'its operator declares it as a chat model');
});
