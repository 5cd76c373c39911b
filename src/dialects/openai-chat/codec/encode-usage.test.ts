import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Usage } from '../../../inference/usage.ts';
import { decodeUsage } from '../decode-usage.ts';
import { encodeUsage } from './encode-usage.ts';

test('cache reads and writes are parts of the prompt (BerriAI/litellm#9812, #11789)', () => {
  const usage = {
    inputTokens: 100,
    cacheReadTokens: 960,
    cacheWrite5mTokens: 30,
    cacheWrite1hTokens: 10,
    outputTokens: 50,
    reasoningTokens: 20,
  };
  assert.deepEqual(encodeUsage(usage), {
    prompt_tokens: 1100,
    completion_tokens: 50,
    total_tokens: 1150,
    prompt_tokens_details: { cached_tokens: 960, cache_write_tokens: 40 },
    completion_tokens_details: { reasoning_tokens: 20 },
  });
});

test('unknown totals are 0, and unknown details are absent', () => {
  assert.deepEqual(encodeUsage({}), { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 });
  assert.deepEqual(encodeUsage({ inputTokens: 5, cacheReadTokens: 0 }), {
    prompt_tokens: 5,
    completion_tokens: 0,
    total_tokens: 5,
    prompt_tokens_details: { cached_tokens: 0 },
  });
});

test('written usage is read back unchanged', () => {
  const count = fc.nat({ max: 1_000_000 });
  const usages = fc.record({
    inputTokens: count,
    outputTokens: count,
    cacheReadTokens: count,
    cacheWrite5mTokens: count,
    reasoningTokens: count,
  });
  fc.assert(fc.property(usages, (usage: Usage) => assert.deepEqual(decodeUsage(encodeUsage(usage))?.usage, { ...usage })));
});
