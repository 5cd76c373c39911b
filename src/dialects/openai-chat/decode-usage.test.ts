import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decodeUsage } from './decode-usage.ts';

const usageOf = (raw: unknown) => decodeUsage(raw)?.usage;

test('prompt_tokens includes the cache, so reads and writes are subtracted once', () => {
  const raw = { prompt_tokens: 1000, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 700, cache_write_tokens: 200 } };
  assert.deepEqual(decodeUsage(raw), {
    usage: { inputTokens: 100, cacheReadTokens: 700, cacheWrite5mTokens: 200, outputTokens: 5 },
    raw,
    trustworthy: true,
  });
});

test('input is never negative, and cache counts larger than the prompt are ignored', () => {
  const report = decodeUsage({ prompt_tokens: 100, prompt_tokens_details: { cached_tokens: 16_738 } });
  assert.deepEqual(report?.usage, { inputTokens: 100 });
  assert.equal(report?.trustworthy, false);
});

test('cache hits beside the details are the same tokens', () => {
  const raw = { prompt_tokens: 100, prompt_cache_hit_tokens: 60, prompt_cache_miss_tokens: 40 };
  assert.deepEqual(usageOf(raw), { inputTokens: 40, cacheReadTokens: 60 });
  assert.deepEqual(usageOf({ ...raw, prompt_tokens_details: { cached_tokens: 60 } }), { inputTokens: 40, cacheReadTokens: 60 });
  assert.deepEqual(usageOf({ ...raw, prompt_tokens_details: { cached_tokens: 0 } }), { inputTokens: 40, cacheReadTokens: 60 });
});

test('reasoning-inside-completion: reasoning is part of the output and is not added to it', () => {
  assert.deepEqual(
    usageOf({ prompt_tokens: 10, completion_tokens: 300, total_tokens: 310, completion_tokens_details: { reasoning_tokens: 256 } }),
    {
      inputTokens: 10,
      outputTokens: 300,
      reasoningTokens: 256,
    },
  );
});

test('reasoning-beside-completion: reasoning is added to the output if the total counts it beside the output', () => {
  const raw = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 115, completion_tokens_details: { reasoning_tokens: 100 } };
  assert.deepEqual(decodeUsage(raw), { usage: { inputTokens: 10, outputTokens: 105, reasoningTokens: 100 }, raw, trustworthy: true });
  for (const total of [15, 114, 116, '115', null, undefined]) assert.equal(usageOf({ ...raw, total_tokens: total })?.outputTokens, 5);
  assert.equal(usageOf({ ...raw, prompt_tokens: undefined, total_tokens: 105 })?.outputTokens, 5, 'the total alone shows nothing');
});

test('audio is counted in the input, the output and the cache', () => {
  const details = { cached_tokens: 40, audio_tokens: 60, cached_tokens_details: { audio_tokens: 25 } };
  assert.deepEqual(
    usageOf({ prompt_tokens: 100, completion_tokens: 9, prompt_tokens_details: details, completion_tokens_details: { audio_tokens: 4 } }),
    {
      inputTokens: 60,
      cacheReadTokens: 40,
      inputAudioTokens: 35,
      cacheReadAudioTokens: 25,
      outputTokens: 9,
      outputAudioTokens: 4,
    },
  );
  const unsplit = { prompt_tokens: 100, prompt_tokens_details: { cached_tokens: 80, audio_tokens: 50 } };
  assert.deepEqual(usageOf(unsplit), { inputTokens: 20, cacheReadTokens: 80, inputAudioTokens: 20 });
});

test('absent and null are unknown, zero is zero', () => {
  assert.equal(decodeUsage(undefined), undefined);
  assert.equal(decodeUsage(null), undefined);
  assert.deepEqual(usageOf({ prompt_tokens: 0, completion_tokens: null, prompt_tokens_details: null }), { inputTokens: 0 });
  assert.deepEqual(usageOf({ prompt_tokens_details: { cached_tokens: 5 } }), { cacheReadTokens: 5 });
});

test('malformed counts are omitted and make the report untrustworthy', () => {
  for (const bad of ['12', -1, 1.5, 2 ** 53, Number.NaN, true, {}]) {
    const report = decodeUsage({ prompt_tokens: 7, completion_tokens: bad });
    assert.deepEqual(report?.usage, { inputTokens: 7 }, JSON.stringify(bad));
    assert.equal(report?.trustworthy, false, JSON.stringify(bad));
  }
  assert.deepEqual(decodeUsage([]), { usage: {}, raw: [], trustworthy: false });
});

test('the tier is that of the reply', () => {
  assert.equal(decodeUsage({}, 'flex')?.serviceTier, 'flex');
  assert.equal('serviceTier' in (decodeUsage({}, null) ?? {}), false);
});

test('the disjoint counts add up to the prompt, or the report is not trustworthy', () => {
  const count = fc.nat({ max: 100_000 });
  fc.assert(
    fc.property(count, count, count, (prompt, cached, written) => {
      const report = decodeUsage({ prompt_tokens: prompt, prompt_tokens_details: { cached_tokens: cached, cache_write_tokens: written } });
      const { inputTokens = 0, cacheReadTokens = 0, cacheWrite5mTokens = 0 } = report?.usage ?? {};
      assert.equal(inputTokens + cacheReadTokens + cacheWrite5mTokens, prompt);
      assert.equal(report?.trustworthy, cached + written <= prompt);
      if (cached + written > prompt) assert.equal(inputTokens, prompt, 'an impossible discount is ignored');
    }),
  );
});

test('image tokens and tool uses of the vendor are counted if it reports them', () => {
  const raw = {
    prompt_tokens: 50,
    prompt_tokens_details: { image_tokens: 40 },
    completion_tokens: 9,
    completion_tokens_details: { image_tokens: 8 },
    num_server_side_tools_used: 3,
  };
  assert.deepEqual(usageOf(raw), { inputTokens: 50, inputImageTokens: 40, outputTokens: 9, outputImageTokens: 8, toolCalls: 3 });
});
