import assert from 'node:assert/strict';
import { test } from 'node:test';

import { dashscopeThinking, glmThinking, moonshotThinking } from './thinking-models.ts';

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

test('GLM is switched by an object until 5.2, and by an effort since; its thoughts are returned', () => {
  const of = (model: string): unknown => {
    const { reasoning, reasoningField, alwaysReasons = false, reasoningHistoryField } = glmThinking(model);
    return reasoning === undefined ? 'none' : [reasoning, reasoningField, alwaysReasons, reasoningHistoryField];
  };
  for (const model of ['glm-4.5', 'glm-4.5-air', 'glm-4.6', 'glm-4.7-flash', 'glm-5', 'glm-5-turbo', 'glm-5.1', 'glm-5.2'])
    assert.deepEqual(of(model), ['effort', 'thinking_type', false, 'reasoning_content'], model);
  for (const model of ['glm-5.3', 'glm-5.3-flash', 'glm-6'])
    assert.deepEqual(of(model), ['effort', undefined, true, 'reasoning_content'], model);
  for (const model of ['glm-4-plus', 'glm-4-32b-0414-128k', 'charglm-4']) assert.equal(of(model), 'none', model);
});
