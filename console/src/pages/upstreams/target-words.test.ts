import assert from 'node:assert/strict';
import { test } from 'node:test';

import { figuresOf, isDisputed, stateOf, type Target, triedAgainInMs, worstState } from './target-words.ts';

const node = {
  node: 'gw_1',
  state: 'healthy',
  again_in_ms: null,
  calls_under_way: 2,
  consecutive_failures: 0,
  has_answered: true,
  reported_at: '2026-11-27T10:00:00.000Z',
  is_silent: false,
} as const;
const target: Target = {
  id: 'openai/gpt-5',
  upstream: 'openai',
  credential: 'openai',
  model: 'gpt-5',
  state: 'healthy',
  override: null,
  nodes: [node],
};
const order = {
  target: 'openai/gpt-5',
  state: 'out',
  reason: 'repair',
  actor: 'person:ann',
  set_at: '2026-11-27T09:00:00.000Z',
  until: '2026-11-27T11:00:00.000Z',
} as const;

test('an order comes before what gateways see, and silence before an old state', () => {
  assert.equal(stateOf(target), 'healthy');
  assert.equal(stateOf({ ...target, override: order }), 'out');
  assert.equal(stateOf({ ...target, nodes: [{ ...node, is_silent: true }] }), 'silent');
  assert.equal(stateOf({ ...target, state: null, nodes: [] }), 'unused');
});

test('a target in use whose last calls have failed is not called healthy', () => {
  const failed = (failures: number): Target => ({ ...target, nodes: [{ ...node, consecutive_failures: failures }] });
  assert.deepEqual([stateOf(failed(2)), stateOf(failed(3))], ['healthy', 'troubled']);
  assert.equal(worstState([failed(3), target]), 'troubled');
  assert.equal(stateOf({ ...failed(9), state: 'failing' }), 'failing');
});

test('the worst of several targets stands for their upstream', () => {
  assert.equal(worstState([target, { ...target, state: 'suspect' }, { ...target, state: 'failing' }]), 'failing');
  assert.equal(worstState([]), undefined);
});

test('gateways that do not report count neither as calls nor as another opinion', () => {
  const silent = { ...node, node: 'gw_2', state: 'failing', calls_under_way: 40, consecutive_failures: 9, is_silent: true } as const;
  const two = { ...target, nodes: [node, silent] };
  assert.deepEqual([figuresOf(two), isDisputed(two)], [{ underWay: 2, failures: 0 }, false]);
  const heard = { ...target, nodes: [node, { ...silent, is_silent: false }] };
  assert.deepEqual([figuresOf(heard), isDisputed(heard)], [{ underWay: 42, failures: 9 }, true]);
});

test('the first gateway that tries again counts, from its own report on, and never in the past', () => {
  const waiting = { ...node, state: 'failing', again_in_ms: 30_000 } as const;
  const sooner = { ...waiting, again_in_ms: 12_000 };
  assert.equal(triedAgainInMs({ ...target, nodes: [waiting, sooner] }, '2026-11-27T10:00:02.000Z'), 10_000);
  assert.equal(triedAgainInMs({ ...target, nodes: [waiting] }, '2026-11-27T10:01:00.000Z'), 0);
  assert.equal(triedAgainInMs(target, '2026-11-27T10:00:00.000Z'), undefined);
});
