import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { ModelTraits } from '../inference/model-traits.ts';
import { traitsOfGemini } from './gemini-traits.ts';

/**
 * Model; how its thinking is controlled; its levels; whether it always thinks, requires signatures, accepts full JSON
 * Schema.
 */
const rows: readonly (readonly [string, ModelTraits['reasoning'], string, boolean, boolean, boolean])[] = [
  ['gemini-3.8-flash', 'effort', 'minimal low medium high', true, true, true],
  ['gemini-3.5-flash-lite', 'effort', 'minimal low medium high', true, true, true],
  ['gemini-3.1-pro-preview', 'effort', 'low medium high', true, true, true],
  ['gemini-3-pro-preview', 'effort', 'low high', true, true, true],
  ['gemini-3-flash-preview', 'effort', 'minimal low medium high', true, true, true],
  ['gemini-flash-latest', 'effort', 'minimal low medium high', true, true, true],
  ['models/gemini-3-flash-preview', 'effort', 'minimal low medium high', true, true, true],
  ['gemini-2.5-pro', 'budget', '', true, false, true],
  ['gemini-2.5-flash', 'budget', '', false, false, true],
  ['gemini-2.5-flash-lite', 'budget', '', false, false, true],
  ['gemini-2.0-flash', 'none', '', false, false, false],
  ['gemma-3-27b-it', 'none', '', false, false, true],
];

for (const [model, reasoning, levels, always, proofs, schema] of rows) {
  test(`${model} has its documented traits`, () => {
    const traits = traitsOfGemini(model);
    assert.deepEqual(
      [traits.reasoning, traits.alwaysReasons, traits.requiresProofs, traits.jsonSchemaTools],
      [reasoning, always, proofs, schema],
    );
    if (reasoning === 'effort') assert.equal(traits.efforts?.join(' '), levels);
    assert.deepEqual([traits.imagesInToolResults, traits.fetchesUrls], [proofs, proofs], 'both came with Gemini 3');
  });
}
