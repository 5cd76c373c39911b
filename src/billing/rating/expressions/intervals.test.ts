import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';

import type { Usage } from '../../../inference/usage.ts';
import { compare } from '../fraction.ts';
import { compileExpression, scopeOfCall, scopeOfPlan } from './compile-expression.ts';
import { bounds } from './testing/expression-kit.ts';

const numbers = [
  '(output_tokens > 5 ? size(/images) : 2) ?? 7',
  '(output_tokens > 5 ? 3 : size(/images)) ?? 7',
  '(output_tokens > 5 ? size(/options) : 2) ?? 7',
  'output_tokens > 3 and speed == "fast" ? 10 - output_tokens : -output_tokens * web_searches',
  'max(output_tokens - 4, 2 - web_searches) * min(web_searches, 3) - ceil(output_tokens / 3) + floor(web_searches / 2)',
  'not (speed in ["fast", "turbo"] or web_searches >= 2) ? output_video_seconds : total_input_tokens / 7',
  '(speed ?? "slow") == "slow" ? 1 : 2',
  'present(speed) and not present(/none) ? output_tokens : 1',
  'output_tokens == web_searches ? 1 : output_tokens != 4 ? 2 : 3',
  '(output_tokens > 4 ? "a" : "b") == (web_searches > 1 ? "a" : "c") ? 5 : 6',
  '(output_tokens > 4) == (web_searches > 1) ? 5 : 6',
  '((output_tokens > 5 ? size(/options) : size(/images)) ?? /quality) ?? 3',
  '((output_tokens > 5 ? size(/options) : size(/images)) ?? /quality) == /quality ? 4 : 3',
  '(/quality ?? (output_tokens > 5 ? size(/options) : size(/images))) == /quality ? 4 : 3',
  'output_tokens in [0, 3] ? 1 : web_searches <= output_tokens ? 8 : 9',
] as const;

test('before a call an expression is an interval, which contains its value after the call', () => {
  const count = fc.nat(12);
  const usages: fc.Arbitrary<Usage> = fc.record({
    outputTokens: count,
    webSearches: count,
    outputVideoMs: fc.nat(9000),
    inputTokens: count,
    cacheReadTokens: count,
  });
  fc.assert(
    fc.property(usages, usages, fc.constantFrom(...numbers), fc.constantFrom(undefined, 'fast', 'slow', ''), (one, other, text, speed) => {
      const most: Usage = Object.fromEntries(
        Object.entries(one).map(([name, value]) => [name, Math.max(value, other[name as keyof Usage] ?? 0)]),
      );
      const { evaluate } = compileExpression(text, 'number');
      const pricingParameters = { '/options': '[9]', '/quality': '"hd"' };
      const planned = evaluate(scopeOfPlan(most, pricingParameters));
      const final = evaluate(
        scopeOfCall({ usage: one, pricingParameters: { ...pricingParameters, ...(speed === undefined ? {} : { speed }) } }),
      );
      assert.ok(planned.is === 'number' && final.is === 'number');
      assert.equal(compare(final.low, final.high), 0, 'afterwards it is one number');
      assert.ok(compare(planned.low, final.low) <= 0 && compare(final.high, planned.high) <= 0, text);
    }),
    { numRuns: 3000 },
  );
});

test('an interval is not wider than necessary', () => {
  assert.deepEqual(bounds('(output_tokens > 5 ? size(/images) : 2) ?? 7', { outputTokens: 9 }), ['2', '7']);
  assert.deepEqual(bounds('(output_tokens > 5 ? 2 : size(/images)) ?? 7', { outputTokens: 9 }), ['2', '7']);
  assert.deepEqual(bounds('(output_tokens > 5 ? size(/images) : 2) ?? 7', { outputTokens: 5 }), ['2', '2']);
  assert.deepEqual(bounds('output_tokens > 5 ? 1 : 2', { outputTokens: 5 }), ['2', '2']);
  assert.deepEqual(bounds('output_tokens >= 0 ? 1 : 2', { outputTokens: 5 }), ['1', '1']);
  assert.deepEqual(bounds('(10 - output_tokens) * 3', { outputTokens: 4 }), ['18', '30']);
  assert.deepEqual(bounds('input_audio_tokens + cache_read_tokens', { inputTokens: 3, cacheReadTokens: 4 }), ['0', '14']);
  assert.deepEqual(bounds('reasoning_tokens', { outputTokens: 4 }), ['0', '4']);
  assert.deepEqual(bounds('output_video_seconds', { outputVideoMs: 1500 }), ['0', '1.5']);
  assert.deepEqual(bounds('speed == "fast" ? 6 : 1', {}), ['1', '6']);
  assert.deepEqual(bounds('(output_tokens > 4 ? "a" : "b") == "b" ? 5 : 6', { outputTokens: 9 }), ['5', '6']);
  assert.deepEqual(bounds('(output_tokens > 4 ? "a" : "b") == "a" ? 5 : 6', { outputTokens: 9 }), ['5', '6']);
  assert.deepEqual(bounds('(output_tokens > 4 ? "a" : "a") == "a" ? 5 : 6', { outputTokens: 9 }), ['5', '5']);
  assert.deepEqual(bounds('service_tier == "flex" ? 0.5 : 1', {}), ['0.5', '1']);
  assert.deepEqual(bounds('/speed == "fast" and (speed ?? "fast") == "fast" ? 6 : 1', {}), ['1', '1']);
});

test('a count before a call is anything up to the bound of its whole', () => {
  const most = { inputTokens: 1, cacheReadTokens: 2, cacheWrite5mTokens: 3, cacheWrite1hTokens: 4, outputTokens: 20 };
  for (const name of ['total_input', 'input', 'cache_read', 'cache_write_5m', 'cache_write_1h', 'input_audio', 'input_image'])
    assert.deepEqual(bounds(`${name}_tokens`, most), ['0', '10'], name);
  for (const name of ['output', 'reasoning', 'output_audio', 'output_image'])
    assert.deepEqual(bounds(`${name}_tokens`, most), ['0', '20'], name);
});

test('before a call a value is known exactly as far as the request determines it', () => {
  const parameters = { '/options': '[9]', '/quality': '"hd"', resolution: '720p' };
  const either = (text: string): string => `(output_tokens > 5 ? ${text})`;
  for (const [text, low, high] of [
    ['resolution == "720p" ? 1 : 2', '1', '1'],
    ['"fast" == speed ? 1 : 2', '1', '2'],
    ['/none == speed ? 1 : 2', '2', '2'],
    ['speed == /none ? 1 : 2', '2', '2'],
    ['present(speed) ? 1 : 2', '1', '2'],
    ['output_tokens == 9 ? 1 : 2', '1', '2'],
    ['9 == output_tokens ? 1 : 2', '1', '2'],
    ['output_tokens == 0 ? 1 : 2', '1', '2'],
    ['output_tokens == 10 ? 1 : 2', '2', '2'],
    [`${either('size(/options) : size(/none)')} == 9 ? 1 : 2`, '1', '2'],
    [`9 == ${either('size(/none) : size(/options)')} ? 1 : 2`, '1', '2'],
    [`${either('size(/options) : size(/none)')} > 8 ? 1 : 2`, '1', '2'],
    [`8 < ${either('size(/options) : size(/none)')} ? 1 : 2`, '1', '2'],
    [`${either('true : true')} ? 1 : 2`, '1', '1'],
    [`${either('false : false')} ? 1 : 2`, '2', '2'],
    [`${either('true : false')} ? 1 : 2`, '1', '2'],
    [`${either('false : true')} ? 1 : 2`, '1', '2'],
    [`${either('3 : 4')} ?? 20`, '3', '4'],
    [`${either('size(/none) : size(/none)')} ?? 20`, '20', '20'],
    [`${either(`${either('size(/options) : size(/none)')} : 4`)} ?? 20`, '4', '20'],
    [`${either(`4 : ${either('size(/options) : size(/none)')}`)} ?? 20`, '4', '20'],
    [`(${either('size(/options) : size(/none)')} + 1) ?? 20`, '10', '20'],
    [`(1 + ${either('size(/options) : size(/none)')}) ?? 20`, '10', '20'],
    [`(${either('size(/options) : size(/none)')} ?? /quality) ?? 3`, '3', '9'],
    [`${either('speed : "a"')} == "a" ? 1 : 2`, '1', '2'],
    [`${either('"a" : speed')} == "a" ? 1 : 2`, '1', '2'],
  ] as const)
    assert.deepEqual(bounds(text, { outputTokens: 9 }, parameters), [low, high], text);
});
