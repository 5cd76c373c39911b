import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { auditBooks, type ClientView, compareStatistics, isExact, plannedUsage } from '../support/audit.ts';
import { type Ledger, openLedger } from '../support/read-ledger.ts';
import { eventually } from '../support/http.ts';
import { scaled, usualOrLong } from '../support/scale.ts';
import { type SimulatedWeir, startSimulatedWeir } from '../support/start-simulated-weir.ts';
import { createRandom, makeCall, modeOf } from './load.ts';

const callsTotal = Number(process.env['WEIR_CALLS'] ?? scaled(400, usualOrLong(1000, 2000)));
const clients = 24;

let simulated: SimulatedWeir;
let ledger: Ledger;
before(async () => {
  simulated = await startSimulatedWeir();
  ledger = await openLedger(simulated.weir.dataDirectory);
});
after(async () => {
  await ledger.close();
  await simulated[Symbol.asyncDispose]();
});

const tool = {
  name: 'look_up',
  description: 'Looks something up.',
  parameters: { type: 'object', properties: { term: { type: 'string' } }, required: ['term'] },
};

/** Each interface's thinking, caching and tools: parts of a reply with separate counts. */
const variants: Readonly<Record<string, readonly Record<string, unknown>[]>> = {
  'anthropic-messages': [
    {},
    { max_tokens: 4000, thinking: { type: 'enabled', budget_tokens: 1024 } },
    { system: [{ type: 'text', text: 'A long system prompt to be cached. '.repeat(300), cache_control: { type: 'ephemeral' } }] },
    {
      system: [
        {
          type: 'text',
          text: 'Another system prompt to be cached for longer. '.repeat(300),
          cache_control: { type: 'ephemeral', ttl: '1h' },
        },
      ],
    },
    { tools: [{ name: tool.name, description: tool.description, input_schema: tool.parameters }] },
  ],
  'openai-responses': [
    {},
    { reasoning: { effort: 'high' } },
    { instructions: 'A long instruction. '.repeat(400) },
    { tools: [{ type: 'function', ...tool, strict: false }] },
  ],
  'openai-chat': [{}, { stream_options: undefined }, { tools: [{ type: 'function', function: tool }] }],
  'gemini-generate-content': [
    {},
    { generationConfig: { thinkingConfig: { thinkingBudget: 512 } } },
    { systemInstruction: { parts: [{ text: 'A long instruction. '.repeat(400) }] } },
    { tools: [{ functionDeclarations: [tool] }] },
  ],
};

test(`${callsTotal} calls of all interfaces: every amount is the price of the upstream's usage, to the last nano-dollar`, async (context) => {
  const random = createRandom(7);
  const views: ClientView[] = [];
  let number = 0;
  const startedAtMs = performance.now();
  await Promise.all(
    Array.from({ length: clients }, async () => {
      while (number < callsTotal) {
        number += 1;
        const mode = modeOf(number);
        const choices = variants[mode.api.dialect] ?? [];
        const { text, ...view } = await makeCall(simulated.weir.gatewayUrl, simulated.weir.apiKey, {
          ...mode,
          number,
          body: choices[Math.floor(random() * choices.length)] ?? {},
          steer: { seed: String(number), 'output-tokens': String(1 + Math.floor(random() * 300)) },
        });
        assert.ok(view.complete, `${mode.api.dialect}${mode.stream ? ', stream' : ''}: ${view.status} ${text.slice(0, 500)}`);
        views.push(view);
      }
    }),
  );
  context.diagnostic(
    `${Math.round((callsTotal * 1000) / (performance.now() - startedAtMs))} calls a second, simulator and clients included`,
  );
  const entries = await eventually(
    async () => (await ledger.all()).length,
    (count) => count >= callsTotal,
  ).then(ledger.all);
  const truths = simulated.simulator.records();
  const audit = auditBooks({ entries, truths, clients: views, lostTokensMax: 0 });
  assert.deepEqual(audit.problems, []);
  assert.equal(audit.counts['complete'], callsTotal);
  assert.equal(entries.length, callsTotal);
  const byTag = new Map(truths.map((truth) => [truth.tag, truth]));
  const rows = new Map(entries.map((entry) => [entry.callId, entry]));
  for (const view of views) {
    const [entry, truth] = [rows.get(view.callId ?? ''), byTag.get(view.tag)];
    assert.ok(entry && truth);
    assert.ok(isExact(entry, truth), `${view.tag}: ${JSON.stringify(entry.usage)} for ${JSON.stringify(plannedUsage(truth))}`);
    assert.ok(entry.charge.priceId, 'it has a price');
  }
  assert.ok(entries.some(({ usage }) => (usage.cacheReadTokens ?? 0) > 0));
  assert.ok(entries.some(({ usage }) => (usage.cacheWrite5mTokens ?? 0) > 0));
  assert.ok(entries.some(({ usage }) => (usage.cacheWrite1hTokens ?? 0) > 0));
  assert.ok(entries.some(({ usage }) => (usage.reasoningTokens ?? 0) > 0));
  assert.deepEqual(await compareStatistics(simulated.weir.monitorUrl, simulated.weir.billingToken, entries), []);
});

test('reading is free: lists, token counts, statistics and health add no row', async () => {
  const before = (await ledger.all()).length;
  const { gatewayUrl, apiKey } = simulated.weir;
  const auth = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  const posts: readonly [path: string, headers: Record<string, string>, body: object][] = [
    [
      '/v1/messages/count_tokens',
      { 'anthropic-version': '2023-06-01' },
      { model: 'claude-sonnet-4-5', messages: [{ role: 'user', content: 'Hello' }] },
    ],
    ['/v1beta/models/gemini-2.5-flash:countTokens', {}, { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] }],
  ];
  for (const [path, headers, body] of posts) {
    const response = await fetch(gatewayUrl + path, { method: 'POST', headers: { ...auth, ...headers }, body: JSON.stringify(body) });
    assert.equal(response.status, 200, await response.text());
  }
  for (const path of ['/v1/models', '/v1beta/models', '/v1/models/gpt-4.1', '/health', '/']) {
    const response = await fetch(gatewayUrl + path, { headers: auth });
    assert.equal(response.status, 200);
    await response.text();
  }
  await new Promise((resolve) => setTimeout(resolve, 300));
  assert.equal((await ledger.all()).length, before);
});
