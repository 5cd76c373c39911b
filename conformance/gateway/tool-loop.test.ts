import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { type RunningSimulator, startSimulator } from 'weir-simulator';

import { loadShippedPriceBook } from '../../src/billing/rating/load-shipped-price-book.ts';
import type { CallEntry, CallOpening } from '../../src/billing/ledger/call-entry.ts';
import type { DialectId } from '../../src/dialects/dialect-id.ts';
import type { WireRequest } from '../../src/dialects/wire-request.ts';
import { chatDialects } from '../../src/dialects/registry.ts';
import { createFakeExchange } from '../../src/gateway/attempts/exchange/testing/fake-exchange.ts';
import { defaultRetries } from '../../src/gateway/settings/limits.ts';
import { createGateway, createKnownCall, createMemoryJournal } from '../../src/gateway/attempts/retry/testing/fake-attempts.ts';
import { createFakeTool } from '../../src/gateway/endpoints/chat/tool-loop/testing/fake-loop.ts';
import { needsToolLoop, runToolLoop } from '../../src/gateway/endpoints/chat/tool-loop/run-tool-loop.ts';
import { buildSettings } from '../../src/main/config/build-settings.ts';
import type { Config } from '../../src/main/config/config-schema.ts';
import { createUpstreamClient, type UpstreamClient } from '../../src/platform/http/upstream-client.ts';
import type { JsonObject } from '../../src/platform/json/json-value.ts';

let simulator: RunningSimulator;
let settings: ReturnType<typeof buildSettings>;
const clients: UpstreamClient[] = [];
after(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await simulator.close();
});

const question = 'Search the web for cats';
const config: Config = {
  tools: { modes: { webSearch: 'gateway' }, prices: { webSearch: '0.01' } },
};
before(async () => {
  simulator = await startSimulator({});
  const upstreams = Object.fromEntries(
    (['anthropic', 'openai', 'gemini'] as const).map((vendor) => [
      vendor,
      { vendor, baseUrl: simulator.addresses[vendor], apiKey: 'simulated', forwardHeaders: ['x-simulator-*'] },
    ]),
  );
  settings = buildSettings({
    config,
    source: { type: 'file', upstreams },
    priceBookData: loadShippedPriceBook(),
    configuredAtMs: 0,
    pools: (origin, connectTimeoutMs) => {
      const client = createUpstreamClient({ origin, connectTimeoutMs, headerBytesMax: 65_536 });
      clients.push(client);
      return client;
    },
  });
});

/** The request of each dialect's clients for a search. */
const bodies: Readonly<Record<Exclude<DialectId, 'openai-chat'>, (model: string) => JsonObject>> = {
  'openai-responses': (model) => ({ model, input: question, tools: [{ type: 'web_search_preview' }] }),
  'anthropic-messages': (model) => ({
    model,
    max_tokens: 1000,
    messages: [{ role: 'user', content: question }],
    tools: [{ type: 'web_search_20250305', name: 'web_search' }],
  }),
  'gemini-generate-content': () => ({ contents: [{ role: 'user', parts: [{ text: question }] }], tools: [{ googleSearch: {} }] }),
};

async function run(dialectId: keyof typeof bodies, model: string, stream: boolean) {
  const dialect = chatDialects[dialectId];
  const framing = stream ? 'sse' : undefined;
  const fake = createFakeExchange({ dialect, framing });
  const openings: CallOpening[] = [];
  const entries: CallEntry[] = [];
  const clock = { nowMs: () => Date.now(), monotonicMs: () => performance.now() };
  let ids = 0;
  const gateway = {
    ...createGateway(clock, createMemoryJournal(openings, entries)),
    newId: (prefix: string) => `${prefix}_${++ids}`,
    proofVault: { remember: () => {}, recall: () => Promise.resolve(new Map()) } as unknown as ReturnType<
      typeof createGateway
    >['proofVault'],
    tools: { 'web-search': () => createFakeTool() },
  };
  const body = { ...bodies[dialectId](model), ...(dialectId === 'gemini-generate-content' ? {} : { stream }) };
  const request: WireRequest = { operation: 'generate', body, headers: {}, pathModel: model };
  const base = createKnownCall(fake, settings.routing.targetsOf(model), defaultRetries);
  const facts = { ...dialect.readFacts(request), stream, builtInTools: ['web-search'] as const };
  const known = {
    ...base,
    callId: base.call.callId,
    label: dialect.id,
    call: { ...base.call, dialect, pathModel: model },
    settings,
    facts,
    framing,
    acceptedAtMs: Date.now(),
    startedMs: performance.now(),
  } as typeof base;
  assert.ok(needsToolLoop(gateway, { dialect, facts, settings, targets: known.targets }));
  const ended = Promise.withResolvers<void>();
  const { response } = fake;
  const end = response.end.bind(response);
  response.end = (...parts: Parameters<typeof end>) => {
    end(...parts);
    ended.resolve();
  };
  await runToolLoop(gateway, known, { request, original: request });
  const late = setTimeout(() => ended.reject(new Error(`no end: ${response.text()}`)), 60_000);
  await ended.promise;
  clearTimeout(late);
  return { text: response.text(), status: response.status, headers: response.headers, entries };
}

const models = { anthropic: 'claude-sonnet-5', openai: 'gpt-4.1', gemini: 'gemini-2.5-flash' } as const;

for (const dialectId of Object.keys(bodies) as (keyof typeof bodies)[]) {
  for (const [vendor, model] of Object.entries(models)) {
    for (const stream of [true, false]) {
      test(`${dialectId} over ${vendor}, ${stream ? 'streamed' : 'whole'}: a search and an answer that cites it are booked`, async () => {
        const { text, status, entries } = await run(dialectId, model, stream);
        assert.equal(status, 200, text);
        const said = Array.from(text.matchAll(/"(?:text|delta)":"((?:[^"\\]|\\.)*)"/g), ([, words]) => words).join('');
        assert.match(said, /Here is what I found/);
        assert.ok(!text.includes('【'), text);
        assert.match(text, /example\.org\/cats/);
        assert.deepEqual(
          entries.map(({ callId, parentCallId, end }) => [callId, parentCallId, end]),
          [
            ['req_1', undefined, 'finished'],
            ['req_1.1.tools', 'req_1', 'finished'],
            ['req_1.2', 'req_1', 'finished'],
          ],
        );
        assert.equal(entries[1]?.charge.amountNanoUsd, 10_000_000n);
        assert.ok(entries.every(({ dialect }) => dialect === dialectId));
        assert.ok((entries[0]?.charge.amountNanoUsd ?? 0n) > 0n && (entries[2]?.charge.amountNanoUsd ?? 0n) > 0n);
      });
    }
  }
}
