import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import type { CallEntry, FailedAttempt } from '../ledger/call-entry.ts';
import { createModelMatcher } from './match-models.ts';
import { likelyCauses, percentOf, Reconciliation } from './reconciliation.ts';
import { atMs, openAiPage, openAiResult, rowOf } from './testing/reconciliation-kit.ts';
import { readOpenAiUsage } from './read-openai-usage.ts';
import type { UsageCounts } from './vendor-usage.ts';

const day = '2026-11-20';
const attempt: FailedAttempt = {
  upstream: 'openai',
  credential: 'c',
  upstreamModel: 'gpt-5-mini',
  errorCode: 'upstream_error',
  durationMs: 9,
};

function reconcile(entries: readonly CallEntry[], result: Record<string, unknown> = openAiResult(), upstream?: string) {
  const theirs = readOpenAiUsage(openAiPage(day, [result]));
  const reconciliation = new Reconciliation(theirs, { vendor: 'openai', ...(upstream === undefined ? {} : { upstream }) });
  for (const entry of entries) reconciliation.add(entry);
  return { reconciliation, cells: reconciliation.cells() };
}

const differences = (cells: ReturnType<typeof reconcile>['cells']) =>
  cells.flatMap(({ model, usage }) =>
    usage.filter(({ difference }) => difference !== 0).map((each) => `${model} ${each.usageClass} ${each.difference}`),
  );

test('the same usage on both sides has no difference, whichever name of the model the row has', () => {
  for (const names of [{}, { servedModel: 'gpt-5-mini' }, { upstreamModel: 'gpt-5-mini-2025-08-07', servedModel: 'proxy' }]) {
    const { cells } = reconcile([rowOf('req_1', names)]);
    assert.deepEqual(differences(cells), []);
    assert.deepEqual(cells.flatMap(likelyCauses), []);
  }
});

test('rows of other vendors, of other upstreams and of tools are not compared', () => {
  const foreign = [
    rowOf('req_2', { vendor: 'anthropic' }),
    rowOf('req_3', { upstream: 'second-account' }),
    rowOf('req_4.1.tools', { toolUsage: { webSearches: 1 } }),
  ];
  assert.deepEqual(differences(reconcile([rowOf('req_1'), ...foreign], openAiResult(), 'openai').cells), []);
});

test('audio, embeddings and videos, which an export of completions cannot contain, are named and not compared', () => {
  const rows = [
    rowOf('req_1'),
    rowOf('req_2', { dialect: 'openai-audio', upstreamModel: 'gpt-4o-transcribe' }),
    rowOf('req_3', { dialect: 'openai-audio', upstreamModel: 'tts-1' }),
    rowOf('req_4', { dialect: 'openai-videos', upstreamModel: 'sora-2' }),
    rowOf('req_5', { dialect: 'openai-embeddings', upstreamModel: 'text-embedding-3-small' }),
    rowOf('req_6', { dialect: 'openai-audio', end: 'failed' }),
    rowOf('req_7', { dialect: 'openai-audio', vendor: 'anthropic' }),
  ];
  const { reconciliation, cells } = reconcile(rows);
  assert.deepEqual(differences(cells), []);
  assert.deepEqual(reconciliation.leftOut(), { audio: 2, videos: 1, embeddings: 1 });
  const [cell] = cells;
  assert.ok(cell !== undefined && rows.slice(1).every((row) => reconciliation.callOf(row, cell) === undefined));
});

test('only the call that the vendor does not have is marked as the explanation of its cell', () => {
  const rows = [1, 2, 3].map((number) => rowOf(`req_${number}`, { usage: { inputTokens: 50 * number, outputTokens: number } }));
  const { reconciliation, cells } = reconcile(
    rows,
    openAiResult({ input_tokens: 200, input_cached_tokens: 0, input_cache_write_tokens: 0, output_tokens: 4, num_model_requests: 2 }),
  );
  const [cell] = cells;
  assert.ok(cell !== undefined);
  assert.deepEqual(
    differences(cells).map((text) => text.replace('gpt-5-mini-2025-08-07 ', '')),
    ['input -100', 'output -2', 'requests -1'],
  );
  const explaining = rows.filter((row) => reconciliation.callOf(row, cell)?.explains === true).map(({ callId }) => callId);
  assert.deepEqual(explaining, ['req_2']);
});

test('the usual causes of differences are counted: lost, estimated, interrupted and failed calls, failed attempts, calls over midnight', () => {
  const rows = [
    rowOf('lost', { end: 'lost', estimated: true }),
    rowOf('cut', { end: 'cut', estimated: true }),
    rowOf('failed', { end: 'failed', usage: {} }),
    rowOf('tried', { failedAttempts: [attempt, attempt] }),
    rowOf('elsewhere', { vendor: 'anthropic', upstream: 'anthropic', failedAttempts: [attempt] }),
    rowOf('late', { acceptedAtMs: Date.UTC(2026, 10, 20, 23, 59, 59), durationMs: 2000 }),
  ];
  const { cells, reconciliation } = reconcile(rows);
  assert.equal(cells.length, 1);
  assert.deepEqual(cells[0]?.signs, { lost: 1, estimated: 2, interrupted: 1, failed: 1, 'failed attempt': 3, 'over midnight': 1 });
  assert.deepEqual(likelyCauses(cells[0]), ['1 lost', '2 estimated', '1 interrupted', '1 failed', '3 failed attempt', '1 over midnight']);
  const elsewhere = rows.find(({ callId }) => callId === 'elsewhere');
  assert.ok(elsewhere !== undefined);
  assert.deepEqual(reconciliation.callOf(elsewhere, cells[0])?.signs, ['failed attempt']);
});

test('usage that one side does not have at all is a difference of 100 percent, with its likely cause', () => {
  const nothing = reconcile([]);
  assert.match(likelyCauses(nothing.cells[0] ?? assert.fail()).join(), /did not go through this gateway/);
  assert.deepEqual(new Set(nothing.cells.flatMap(({ usage }) => usage.map(percentOf))), new Set([100]));
  const extra = reconcile([rowOf('req_1'), rowOf('req_2', { upstreamModel: 'gpt-9', servedModel: 'gpt-9' })]);
  assert.deepEqual(
    extra.cells.map(({ model }) => model),
    ['gpt-5-mini-2025-08-07', 'gpt-9'],
  );
  assert.match(likelyCauses(extra.cells[1] ?? assert.fail()).join(), /has not counted everything yet/);
});

test('cells are ordered by day, then by model, and a call belongs to one cell', () => {
  const theirs = readOpenAiUsage([
    openAiPage(day, [openAiResult({ model: 'b' })]),
    openAiPage('2026-11-19', [openAiResult({ model: 'c' }), openAiResult({ model: 'a' })]),
  ]);
  const reconciliation = new Reconciliation(theirs, { vendor: 'openai' });
  const row = rowOf('req_1', { servedModel: 'a' });
  reconciliation.add(row);
  const cells = reconciliation.cells();
  assert.deepEqual(
    cells.map((cell) => [cell.day, cell.model, reconciliation.callOf(row, cell) !== undefined]),
    [
      ['2026-11-19', 'a', false],
      ['2026-11-19', 'c', false],
      ['2026-11-20', 'a', true],
      ['2026-11-20', 'b', false],
    ],
  );
});

test('every class is compared that the export counts for at least one model', () => {
  const row = (model: string, counts: UsageCounts) => ({ model, startMs: atMs, counts });
  const rows = [row('a', { input: 1 }), row('b', { cache_write_1h: 2, web_searches: 3 })];
  const reconciliation = new Reconciliation({ timeZone: 'UTC', rows, startMs: atMs, endMs: atMs, unread: [] }, { vendor: 'anthropic' });
  const usage = { inputTokens: 1, cacheWrite1hTokens: 4, webSearches: 5 };
  reconciliation.add(rowOf('req_1', { vendor: 'anthropic', servedModel: 'a', usage }));
  assert.deepEqual(
    reconciliation.cells().map((cell) => cell.usage.map(({ usageClass, ours, theirs }) => `${usageClass} ${ours} ${theirs}`)),
    [
      ['input 1 1', 'cache_write_1h 4 0', 'web_searches 5 0'],
      ['input 0 0', 'cache_write_1h 0 2', 'web_searches 0 3'],
    ],
  );
});

test('a call without usage does not explain a cell without differences', () => {
  const failed = rowOf('req_2', { end: 'failed', usage: {} });
  const { reconciliation, cells } = reconcile([rowOf('req_1'), failed]);
  const [cell] = cells;
  assert.ok(cell !== undefined);
  assert.equal(reconciliation.callOf(failed, cell)?.explains, false);
  assert.deepEqual(new Set(cell.usage.map(percentOf)), new Set([0]));
  assert.deepEqual(likelyCauses(cell), []);
  assert.equal(percentOf({ usageClass: 'input', ours: 0, theirs: 0, difference: 0 }), 0);
});

test('without any sign, a class of which the vendor has more suggests calls that bypassed the gateway', () => {
  for (const [change, cause] of [
    [{ output_tokens: 8 }, /did not go through this gateway/],
    [{ output_tokens: 8, num_model_requests: 0 }, /did not go through this gateway/],
    [{ output_tokens: 6 }, /has not counted everything yet/],
  ] as const)
    assert.match(likelyCauses(reconcile([rowOf('req_1')], openAiResult(change)).cells[0] ?? assert.fail()).join(), cause);
});

test('failed attempts count if the export is of their account and has their model; a client that disconnects interrupts its call', () => {
  const attempts = [{ ...attempt, upstream: 'second-account' }, { ...attempt, upstreamModel: 'o9' }, attempt];
  const { cells } = reconcile([rowOf('req_1', { failedAttempts: attempts, end: 'client-left' })], openAiResult(), 'openai');
  assert.deepEqual(
    cells.map(({ model, signs }) => [model, signs]),
    [['gpt-5-mini-2025-08-07', { interrupted: 1, 'failed attempt': 1 }]],
  );
});

test('an export that is the sum of the rows has no difference, and a changed one exactly that of the change', () => {
  const count = fc.nat(10_000_000);
  const usage = fc.record({ inputTokens: count, cacheReadTokens: count, cacheWrite5mTokens: count, outputTokens: count });
  fc.assert(
    fc.property(fc.array(usage, { minLength: 1, maxLength: 20 }), fc.integer({ min: -5, max: 5 }), (usages, change) => {
      const sum = (name: keyof (typeof usages)[number]): number => usages.reduce((total, each) => total + each[name], 0);
      const result = openAiResult({
        input_tokens: sum('inputTokens') + sum('cacheReadTokens') + sum('cacheWrite5mTokens'),
        input_cached_tokens: sum('cacheReadTokens'),
        input_cache_write_tokens: sum('cacheWrite5mTokens'),
        output_tokens: Math.max(0, sum('outputTokens') + change),
        num_model_requests: usages.length,
      });
      const { cells } = reconcile(
        usages.map((each, index) => rowOf(`req_${index}`, { usage: each, acceptedAtMs: atMs + index })),
        result,
      );
      const expected = Math.max(0, sum('outputTokens') + change) - sum('outputTokens');
      assert.deepEqual(differences(cells), expected === 0 ? [] : [`gpt-5-mini-2025-08-07 output ${expected}`]);
    }),
    { numRuns: 50 },
  );
});

test('models are matched by the served name first, and a name that matches two models of the export matches none', () => {
  const match = createModelMatcher(['gpt-5-2025-08-07', 'gpt-5-2026-01-01', 'gpt-5-mini']);
  assert.equal(match({ upstreamModel: 'gpt-5', servedModel: 'gpt-5-2026-01-01' }), 'gpt-5-2026-01-01');
  assert.equal(match({ upstreamModel: 'gpt-5' }), undefined);
  assert.equal(match({ upstreamModel: 'models/gpt-5-mini-latest' }), 'gpt-5-mini');
  assert.equal(match({ upstreamModel: 'gpt-5-min' }), undefined);
});
