import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import type { InferenceEvent } from './inference-event.ts';
import { type CallLimits, limitCalls } from './limit-calls.ts';

const call = (index: number, name: string): readonly InferenceEvent[] => [
  { type: 'block-started', index, block: { kind: 'tool-call', id: `call_${index}`, name } },
  { type: 'delta', index, text: '{}' },
  { type: 'proof', index, proof: { origin: 'x', blob: 'y' } },
  { type: 'block-ended', index },
];
const text = (index: number): readonly InferenceEvent[] => [
  { type: 'block-started', index, block: { kind: 'text' } },
  { type: 'delta', index, text: 'Hi' },
  { type: 'block-ended', index },
];
const end: InferenceEvent = { type: 'finished', stopReason: 'tool-calls' };

function limited(limits: CallLimits, events: readonly InferenceEvent[]) {
  const surplus: string[] = [];
  const step = limitCalls(limits, (name) => surplus.push(name));
  return { passed: events.flatMap((event) => step(event)), surplus };
}

describe('surplus calls of a reply', () => {
  test('if one call at a time is allowed, surplus calls are left out whole, and nothing else is', () => {
    const { passed, surplus } = limited({ oneCall: true }, [...text(0), ...call(1, 'look'), ...call(2, 'go'), ...text(3), end]);
    assert.deepEqual(passed, [...text(0), ...call(1, 'look'), ...text(3), end]);
    assert.deepEqual(surplus, ['go']);
  });

  test('surplus calls of the screen are left out, and calls of other tools stay', () => {
    const events = [...call(0, 'computer'), ...call(1, 'bash'), ...call(2, 'computer'), end];
    const { passed, surplus } = limited({ oneCall: false, calledOnce: 'computer' }, events);
    assert.deepEqual(passed, [...call(0, 'computer'), ...call(1, 'bash'), end]);
    assert.deepEqual(surplus, ['computer']);
  });
});
