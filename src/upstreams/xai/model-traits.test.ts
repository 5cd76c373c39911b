import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { ModelTraits } from '../../inference/model-traits.ts';
import { traitsOfGrok } from './model-traits.ts';

const rows: readonly (readonly [string, ModelTraits['reasoning'], string, boolean])[] = [
  ['grok-4.5', 'effort', 'low medium high', true],
  ['grok-5', 'effort', 'low medium high', true],
  ['grok-4.3', 'effort', 'none low medium high', false],
  ['grok-4.20-reasoning', 'none', '', true],
  ['grok-4.20-non-reasoning', 'none', '', false],
  ['grok-4-1-fast', 'none', '', true],
  ['grok-4-1-fast-reasoning', 'none', '', true],
  ['grok-4-1-fast-non-reasoning', 'none', '', false],
  ['grok-4-0709', 'none', '', true],
  ['grok-code-fast-1', 'none', '', true],
  ['grok-3-mini', 'effort', 'low high', true],
  ['grok-3', 'none', '', false],
];

for (const [model, reasoning, efforts, always] of rows) {
  test(`${model} receives an effort if it supports one`, () => {
    const traits = traitsOfGrok(model);
    assert.deepEqual([traits.reasoning, traits.alwaysReasons], [reasoning, always]);
    if (reasoning === 'effort') assert.equal(traits.efforts?.join(' '), efforts);
  });
}
