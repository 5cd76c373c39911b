import assert from 'node:assert/strict';
import { test } from 'node:test';

import { nearestName } from './nearest-name.ts';

const models = ['claude-sonnet-4-5', 'claude-opus-4-1', 'gpt-4.1', 'gpt-4.1-mini', 'gpt-5', 'gpt-5-mini', 'gemini-2.5-flash'];

test('a name with a typing error, in another case or with other punctuation is recognised', () => {
  for (const [asked, meant] of [
    ['claude-sonet-4-5', 'claude-sonnet-4-5'],
    ['claude-sonnet-4.5', 'claude-sonnet-4-5'],
    ['Claude_Sonnet_4_5', 'claude-sonnet-4-5'],
    ['gpt-5-mniі'.replace('і', 'i'), 'gpt-5-mini'],
    ['gemini-25-flash', 'gemini-2.5-flash'],
    ['gpt4.1', 'gpt-4.1'],
  ] as const)
    assert.equal(nearestName(asked, models), meant, asked);
});

test('no name is suggested for a text that is far from all, equally near to two, or very long', () => {
  for (const asked of ['', 'x', 'llama-3', 'claude', 'my-own-model', 'a'.repeat(100_000)])
    assert.equal(nearestName(asked, models), undefined, asked.slice(0, 20));
  assert.equal(nearestName('gpt-6', ['gpt-5', 'gpt-7']), undefined);
  assert.equal(nearestName('gpt-5', []), undefined);
});
