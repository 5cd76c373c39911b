import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decodeUsage, mergeUsage } from './decode-usage.ts';

test('input_tokens is used unchanged, because it excludes cache counts', () => {
  const raw = { input_tokens: 10, cache_read_input_tokens: 900, cache_creation_input_tokens: 80, output_tokens: 7 };
  assert.deepEqual(decodeUsage(raw), {
    usage: { inputTokens: 10, cacheReadTokens: 900, cacheWrite5mTokens: 80, outputTokens: 7 },
    raw,
    trustworthy: true,
  });
});

test('absent and null counts are unknown, a reported zero is zero', () => {
  assert.deepEqual(decodeUsage({ input_tokens: 0, output_tokens: null })?.usage, { inputTokens: 0 });
  assert.deepEqual(decodeUsage({})?.usage, {});
  assert.equal(decodeUsage(undefined), undefined);
  assert.equal(decodeUsage(null), undefined);
});

test('cache writes are read by lifetime', () => {
  const split = (five: number, hour: number) => ({ ephemeral_5m_input_tokens: five, ephemeral_1h_input_tokens: hour });
  const writes = (total: number | undefined, cache_creation: object | null) =>
    decodeUsage({ ...(total !== undefined && { cache_creation_input_tokens: total }), cache_creation })?.usage;
  assert.deepEqual(writes(30, split(10, 20)), { cacheWrite5mTokens: 10, cacheWrite1hTokens: 20 });
  assert.deepEqual(writes(30, null), { cacheWrite5mTokens: 30 });
  assert.deepEqual(writes(undefined, split(10, 20)), { cacheWrite5mTokens: 10, cacheWrite1hTokens: 20 });
  assert.deepEqual(writes(35, split(10, 20)), { cacheWrite5mTokens: 15, cacheWrite1hTokens: 20 });
  assert.deepEqual(writes(25, split(0, 20)), { cacheWrite5mTokens: 0, cacheWrite1hTokens: 25 });
  assert.deepEqual(writes(0, split(0, 0)), { cacheWrite5mTokens: 0, cacheWrite1hTokens: 0 });
});

test('compactions, which the totals leave out, are added; the other passes are in the totals', () => {
  const total = { input_tokens: 23_000, output_tokens: 1000, cache_read_input_tokens: 5 };
  const compaction = { type: 'compaction', input_tokens: 180_000, output_tokens: 3500, cache_creation_input_tokens: 40 };
  const iterations = [compaction, { ...compaction, input_tokens: 1 }, { type: 'message', ...total }, { type: 'advisor_message', ...total }];
  assert.deepEqual(decodeUsage({ ...total, iterations })?.usage, {
    inputTokens: 203_001,
    cacheReadTokens: 5,
    cacheWrite5mTokens: 80,
    outputTokens: 8000,
  });
  assert.deepEqual(decodeUsage(mergeUsage({ input_tokens: 23_000, iterations: null }, { ...total, iterations: [compaction] }))?.usage, {
    inputTokens: 203_000,
    cacheReadTokens: 5,
    cacheWrite5mTokens: 40,
    outputTokens: 4500,
  });
  for (const odd of [null, {}, 'x', [null, 3, 'x', {}, { type: 'compaction' }]])
    assert.deepEqual(decodeUsage({ ...total, iterations: odd })?.usage, { inputTokens: 23_000, cacheReadTokens: 5, outputTokens: 1000 });
  assert.equal(decodeUsage({ ...total, iterations: [{ type: 'compaction', input_tokens: '9' }] })?.trustworthy, false);
});

test('malformed counts are left out and make the report untrustworthy', () => {
  for (const bad of ['12', -1, 1.5, 2 ** 53, Number.POSITIVE_INFINITY, true, {}]) {
    const report = decodeUsage({ input_tokens: bad, output_tokens: 3 });
    assert.deepEqual(report?.usage, { outputTokens: 3 }, JSON.stringify(bad));
    assert.equal(report?.trustworthy, false, JSON.stringify(bad));
  }
  assert.deepEqual(decodeUsage('none'), { usage: {}, raw: 'none', trustworthy: false });
});

test('searches, thinking and the service tier are read', () => {
  const report = decodeUsage({
    output_tokens: 50,
    output_tokens_details: { thinking_tokens: 30 },
    server_tool_use: { web_search_requests: 2, web_fetch_requests: 1 },
    service_tier: 'priority',
    inference_geo: 'us',
    speed: 'fast',
  });
  assert.deepEqual(report?.usage, { outputTokens: 50, reasoningTokens: 30, webSearches: 2, webFetches: 1 });
  assert.deepEqual(report?.replyParameters, { inference_geo: 'us', speed: 'fast' });
  assert.equal(report?.serviceTier, 'priority');
  assert.equal(decodeUsage({ server_tool_use: null, output_tokens_details: null, service_tier: null })?.trustworthy, true);
});

test('merging uses the larger count, keeps missing counts, and lets no malformed count replace a good one', () => {
  const known = { input_tokens: 31, cache_creation: { ephemeral_5m_input_tokens: 5 }, output_tokens: 1, service_tier: 'standard' };
  const later = { input_tokens: 0, cache_creation: null, output_tokens: 9, server_tool_use: { web_search_requests: 1 } };
  assert.deepEqual(mergeUsage(known, later), {
    input_tokens: 31,
    cache_creation: { ephemeral_5m_input_tokens: 5 },
    output_tokens: 9,
    service_tier: 'standard',
    server_tool_use: { web_search_requests: 1 },
  });
  assert.equal(mergeUsage(12, '12'), 12);
  assert.equal(mergeUsage(12, 1e300), 12);
  assert.equal(mergeUsage(-5, 3), 3);
  assert.equal(mergeUsage('x', 3), 3);
});

test('a usage object that names __proto__ pollutes nothing', () => {
  const hostile = JSON.parse('{"__proto__":{"input_tokens":5},"output_tokens":1}') as Parameters<typeof mergeUsage>[0];
  const merged = mergeUsage({ output_tokens: 2 }, hostile);
  assert.deepEqual(decodeUsage(merged)?.usage, { outputTokens: 2 });
  assert.equal(({} as Record<string, unknown>).input_tokens, undefined);
});

test('merging is the maximum per field, in any order of the reports', () => {
  const report = fc.record(
    { input_tokens: fc.nat(), output_tokens: fc.nat(), cache_read_input_tokens: fc.nat(), cache_creation_input_tokens: fc.nat() },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(report, report, (first, second) => {
      const merged = decodeUsage(mergeUsage(first, second));
      assert.deepEqual(merged?.usage, decodeUsage(mergeUsage(second, first))?.usage);
      const most = (field: keyof typeof first) => {
        const counts = [first[field], second[field]].filter((count) => count !== undefined);
        return counts.length === 0 ? undefined : Math.max(...counts);
      };
      assert.equal(merged?.usage.inputTokens, most('input_tokens'));
      assert.equal(merged?.usage.outputTokens, most('output_tokens'));
      assert.equal(merged?.usage.cacheReadTokens, most('cache_read_input_tokens'));
    }),
  );
});
