import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { ModelTraits } from '../inference/model-traits.ts';
import { traitsOfClaude } from './claude-traits.ts';

/**
 * Model; its thinking, and whether it always thinks; highest effort; whether sampling is fixed, answers may have
 * schemas, answers may be prefilled; output limit.
 */
const rows: readonly (readonly [string, ModelTraits['reasoning'], boolean, string, boolean, boolean, boolean, number])[] = [
  ['claude-opus-5-5', 'effort', true, 'max', true, true, false, 128_000],
  ['claude-fable-5', 'effort', true, 'max', true, true, false, 128_000],
  ['claude-fable-5-1', 'effort', true, 'max', true, true, false, 128_000],
  ['claude-mythos-preview', 'effort', true, 'max', true, true, false, 128_000],
  ['claude-opus-5', 'effort', false, 'max', true, true, false, 128_000],
  ['claude-sonnet-5-5', 'effort', false, 'max', true, true, false, 128_000],
  ['claude-haiku-5-5', 'effort', false, 'max', true, true, false, 128_000],
  ['claude-opus-4-8', 'effort', false, 'max', true, true, false, 128_000],
  ['claude-opus-4-7-20260416', 'effort', false, 'max', true, true, false, 128_000],
  ['claude-opus-4-6', 'effort', false, 'max', false, true, false, 128_000],
  ['claude-sonnet-4-6', 'effort', false, 'max', false, true, false, 128_000],
  ['claude-sonnet-4-5-20250929', 'budget', false, '', false, true, true, 64_000],
  ['claude-haiku-4-5', 'budget', false, '', false, true, true, 64_000],
  ['claude-opus-4-5', 'budget', false, '', false, true, true, 64_000],
  ['claude-opus-4-1', 'budget', false, '', false, true, true, 32_000],
  ['claude-sonnet-4-20250514', 'budget', false, '', false, false, true, 64_000],
  ['claude-opus-4-0', 'budget', false, '', false, false, true, 32_000],
  ['claude-3-7-sonnet-latest', 'budget', false, '', false, false, true, 64_000],
  ['claude-3-5-haiku-20241022', 'none', false, '', false, false, true, 8192],
  ['claude-3-haiku-20240307', 'none', false, '', false, false, true, 4096],
  ['claude-something-9', 'effort', false, 'max', true, true, false, 128_000],
];

for (const [model, reasoning, always, highest, fixed, structured, prefill, output] of rows) {
  test(`${model} has its documented traits`, () => {
    const traits = traitsOfClaude(model);
    assert.deepEqual(
      [traits.reasoning, traits.alwaysReasons, traits.fixedSampling, traits.structuredOutput, traits.prefill, traits.outputTokensMax],
      [reasoning, always, fixed, structured, prefill, output],
    );
    if (reasoning === 'effort') assert.equal(traits.efforts?.at(-1), highest);
  });
}

test('xhigh came with Opus 4.7', () => {
  const knows = (model: string): boolean => traitsOfClaude(model).efforts?.includes('xhigh') === true;
  assert.deepEqual(['claude-opus-4-6', 'claude-sonnet-4-6', 'claude-opus-4-7', 'claude-sonnet-5'].map(knows), [false, false, true, true]);
});
