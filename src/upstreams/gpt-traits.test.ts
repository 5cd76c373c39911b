import assert from 'node:assert/strict';
import { test } from 'node:test';

import { traitsOfGpt } from './gpt-traits.ts';

/** Model; its efforts, lowest first; whether it always thinks. */
const thinking: readonly (readonly [string, string, boolean])[] = [
  ['gpt-5.6-sol', 'none low medium high xhigh max', false],
  ['gpt-5.6', 'none low medium high xhigh max', false],
  ['gpt-5.5', 'none low medium high xhigh', false],
  ['gpt-5.5-pro-2026-04-23', 'medium high xhigh', true],
  ['gpt-5.4-mini-2026-03-17', 'none low medium high xhigh', false],
  ['gpt-5.3-codex', 'low medium high xhigh', true],
  ['gpt-5.3-chat-latest', 'medium', true],
  ['gpt-5.2', 'none low medium high xhigh', false],
  ['gpt-5.1', 'none low medium high', false],
  ['gpt-5.1-codex-max', 'low medium high xhigh', true],
  ['gpt-5.1-codex', 'low medium high', true],
  ['gpt-5', 'minimal low medium high', true],
  ['gpt-5-mini-2025-08-07', 'minimal low medium high', true],
  ['gpt-5-nano', 'minimal low medium high', true],
  ['gpt-5-codex', 'low medium high', true],
  ['gpt-5-pro', 'high', true],
  ['o3', 'low medium high', true],
  ['o4-mini-2025-04-16', 'low medium high', true],
  ['codex-mini-latest', 'low medium high', true],
  ['gpt-6.1-sol', 'none low medium high', false],
];

for (const [model, efforts, always] of thinking) {
  test(`${model} receives its own efforts, and no sampling fields`, () => {
    const traits = traitsOfGpt(model);
    assert.deepEqual([traits.reasoning, traits.efforts?.join(' '), traits.alwaysReasons], ['effort', efforts, always]);
    assert.deepEqual(
      [traits.fixedSampling, traits.chat.systemRole, traits.chat.outputLimitField],
      [true, 'developer', 'max_completion_tokens'],
    );
  });
}

for (const [model, structured, output] of [
  ['gpt-4.1', true, 32_768],
  ['gpt-4.1-mini-2025-04-14', true, 32_768],
  ['gpt-4o', true, 16_384],
  ['chatgpt-4o-latest', true, 16_384],
  ['gpt-5-chat-latest', true, 16_384],
  ['ft:gpt-4o-mini-2024-07-18:mine::abc', true, 16_384],
  ['gpt-4-turbo', false, 4096],
  ['gpt-4-0613', false, 8192],
  ['gpt-3.5-turbo', false, 4096],
] as const) {
  test(`${model} does not think and accepts sampling fields`, () => {
    const traits = traitsOfGpt(model);
    assert.deepEqual(
      [traits.reasoning, traits.alwaysReasons, traits.fixedSampling, traits.chat.systemRole],
      ['none', false, false, 'system'],
    );
    assert.deepEqual([traits.structuredOutput, traits.outputTokensMax], [structured, output]);
  });
}
