import assert from 'node:assert/strict';
import { test } from 'node:test';

import { upstreamVendors } from '../../../upstreams/registry.ts';
import type { VendorId } from '../../../upstreams/upstream-vendor.ts';
import { defaultTimeouts } from '../../settings/limits.ts';
import { createTimeoutRule, timeoutsOf, type TimeoutOverrides } from './target.ts';

const at = (id: VendorId) => ({ vendor: upstreamVendors[id], traitsOf: upstreamVendors[id].traitsOf });
const firstBytes = (rule: ReturnType<typeof createTimeoutRule>, id: VendorId, model: string, overrides?: TimeoutOverrides) => {
  const timeouts = rule(at(id), model, overrides);
  const target = timeouts === undefined ? {} : { timeouts };
  return [true, false].map((stream) => timeoutsOf(target, stream, defaultTimeouts).firstByteMs / 1000);
};

test('a stream of a model that does not reason has a minute to begin; all else has ten', () => {
  const rule = createTimeoutRule(defaultTimeouts, false);
  assert.deepEqual(firstBytes(rule, 'openai', 'gpt-4.1'), [60, 600]);
  assert.deepEqual(firstBytes(rule, 'openai', 'gpt-5-mini'), [600, 600]);
  assert.deepEqual(firstBytes(rule, 'anthropic', 'claude-opus-4-6'), [600, 600]);
  assert.deepEqual(firstBytes(rule, 'openai-compatible', 'anything'), [600, 600], 'such servers answer late');
});

test("the operator's setting for all overrides the rule, and the model and its target override that", () => {
  const set = createTimeoutRule({ ...defaultTimeouts, firstByteMs: 30_000 }, true);
  assert.equal(set(at('openai'), 'gpt-4.1'), undefined);
  assert.deepEqual(firstBytes(set, 'openai', 'gpt-4.1', { firstByteMs: 5000 }), [5, 5]);
  const rule = createTimeoutRule(defaultTimeouts, false);
  assert.deepEqual(firstBytes(rule, 'openai', 'gpt-4.1', { idleMs: 7000 }), [60, 600], 'another one leaves the rule as it is');
  assert.equal(rule(at('openai'), 'gpt-4.1', { idleMs: 7000 })?.stream.idleMs, 7000);
});

test('the timeouts of a target are complete, and without differences no object is made for a call', () => {
  const rule = createTimeoutRule(defaultTimeouts, false);
  assert.deepEqual(rule(at('openai'), 'gpt-5', { totalMs: 9000 })?.whole, { ...defaultTimeouts, totalMs: 9000 });
  assert.equal(rule(at('openai'), 'gpt-5', {}), undefined);
  assert.equal(timeoutsOf({}, true, defaultTimeouts), defaultTimeouts);
  assert.equal(rule(at('openai'), 'gpt-4.1'), rule(at('openai'), 'gpt-4o'), 'and what the rule makes is made once');
});
