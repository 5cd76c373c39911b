import { alwaysHealthy } from '../src/gateway/attempts/health/health.ts';
import { fakeTable, fakeTarget } from '../src/gateway/attempts/routing/testing/fake-routing.ts';
import { rankTargets } from '../src/gateway/attempts/routing/rank-targets.ts';
import type { ConfiguredModel } from '../src/gateway/attempts/routing/routing-table.ts';
import type { Target } from '../src/gateway/attempts/routing/target.ts';
import { chatDialects } from '../src/dialects/registry.ts';

/**
 * The cost of ranking the targets of a call, in microseconds: the usual model with one target, tiers of three,
 * conditions. `node bench/routing.ts`
 */
const calls = 200_000;

const turns = Array.from({ length: 40 }, (_, index) => ({
  role: index % 2 === 0 ? 'user' : 'assistant',
  content: `turn ${index} `.repeat(100),
}));
const tools = Array.from({ length: 12 }, (_, index) => ({ type: 'function', function: { name: `tool_${index}` } }));
const body = { model: 'm', messages: [{ role: 'system', content: 'be brief. '.repeat(2000) }, ...turns], tools };

function measure(name: string, targets: readonly Target[], more: Partial<ConfiguredModel> = {}, headers = {}): void {
  const call = {
    table: fakeTable(targets, more),
    dialect: chatDialects['openai-chat'],
    facts: { requestedModel: 'm', stream: true, inputCharacters: 60_000, needs: [] },
    request: { operation: 'generate', body, headers },
    caller: { userId: 'user' },
    health: alwaysHealthy,
    nowMs: 0,
    random: Math.random,
  } as const;
  const times: number[] = [];
  for (let round = 0; round < 7; round += 1) {
    const startedMs = performance.now();
    for (let index = 0; index < calls; index += 1) rankTargets(call);
    times.push(((performance.now() - startedMs) * 1000) / calls);
  }
  console.log(`${name.padEnd(60)} ${(times.toSorted((first, second) => first - second)[3] ?? 0).toFixed(3)} µs`);
}

const tier = ['a', 'b', 'c'].map((id) => fakeTarget(id, { priority: 1 }));
measure('one target', [fakeTarget('a')]);
measure(
  'three targets, one after the other',
  ['a', 'b', 'c'].map((id) => fakeTarget(id)),
);
measure('three that share, the session in a header', tier, {}, { 'x-session-id': '0d1e6c2a-6f0e-4d0e-9a39-6a8f7f2f8f10' });
measure('three that share, the conversation by its beginning', tier);
measure('three that share by chance', tier, { balance: 'random' });
const conditioned = [fakeTarget('a', { when: { images: true } }), fakeTarget('b', { when: { images: false } })];
measure('two with conditions, 41 turns', conditioned);
