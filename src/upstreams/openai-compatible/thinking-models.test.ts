import assert from 'node:assert/strict';
import { test } from 'node:test';

import { dashscopeThinking, moonshotThinking } from './thinking-models.ts';

test('models of DashScope that think get its switch, and others get no member that they may refuse', () => {
  const of = (model: string): unknown => {
    const { reasoning, reasoningField, alwaysReasons = false, thinksInStreamsOnly = false } = dashscopeThinking(model);
    return reasoning === undefined ? 'none' : [reasoning, reasoningField, alwaysReasons, thinksInStreamsOnly];
  };
  const hybrid = ['budget', 'top_enable_thinking', false, false];
  for (const model of [
    'qwen-plus',
    'qwen-flash-2025-07-28',
    'qwen3-max',
    'qwen3.5-plus',
    'qwen3-vl-plus',
    'deepseek-v3.2',
    'glm-4.6',
    'glm-5',
  ])
    assert.deepEqual(of(model), hybrid, model);
  for (const model of ['qwen3-32b', 'qwen3-235b-a22b', 'qwen3-0.6b'])
    assert.deepEqual(of(model), ['budget', 'top_enable_thinking', false, true], model);
  for (const model of ['qwq-plus', 'deepseek-r1', 'qwen3-next-80b-a3b-thinking'])
    assert.deepEqual(of(model), ['budget', 'top_enable_thinking', true, false], model);
  for (const model of ['qwen-max', 'qwen2.5-72b-instruct', 'qwen3-coder-plus', 'qwen3-235b-a22b-instruct-2507', 'deepseek-v3'])
    assert.equal(of(model), 'none', model);
});

test('Kimi is switched by an object, by an effort, or not at all', () => {
  const of = (model: string): unknown => {
    const { reasoning, reasoningField, alwaysReasons = false } = moonshotThinking(model);
    return reasoning === undefined ? 'none' : [reasoning, reasoningField, alwaysReasons];
  };
  assert.deepEqual(of('kimi-k2.6'), ['effort', 'thinking_type', false]);
  assert.deepEqual(of('kimi-k2.7-code'), ['effort', 'thinking_type', true]);
  assert.deepEqual(of('kimi-k3'), ['effort', undefined, true]);
  assert.equal(of('moonshot-v1-8k'), 'none');
});
