import assert from 'node:assert/strict';
import { test } from 'node:test';

import { chatDialects } from '../../../dialects/registry.ts';
import type { InferenceEvent } from '../../../inference/inference-event.ts';
import { meterNames, meters } from '../../../inference/meters.ts';
import { DeliveredCount, limitToDelivered } from './client-disconnect.ts';

const blockOf = (index: number, kind: 'text' | 'reasoning' | 'tool-call', ...texts: string[]): readonly InferenceEvent[] => [
  { type: 'block-started', index, block: kind === 'tool-call' ? { kind, id: 'c1', name: 'look' } : { kind } },
  ...texts.map((text) => ({ type: 'delta', index, text }) as const),
];
const end = (index: number): InferenceEvent => ({ type: 'block-ended', index });

/** The delivered characters of these events, by an encoder that writes nothing for some events. */
function count(events: readonly InferenceEvent[], writes: (event: InferenceEvent) => boolean): number {
  const delivered = new DeliveredCount();
  for (const event of events) delivered.encode({ write: (each) => (writes(each) ? 'x' : '') }, event);
  return delivered.characters;
}

test('written content counts at once, held content when it is written, and dropped content never', () => {
  const text = blockOf(0, 'text', 'four', 'more!');
  const call = blockOf(1, 'tool-call', '{"a":', '1}');
  assert.equal(
    count(text, () => true),
    9,
  );
  assert.equal(
    count([...call], ({ type }) => type !== 'delta'),
    0,
  );
  assert.equal(
    count([...call, end(1)], ({ type }) => type === 'block-ended'),
    7,
  );
  assert.equal(
    count([...text, ...call, end(0), end(1)], (event) => 'index' in event && event.index === 0),
    9,
  );
  assert.equal(
    count([...text, end(0)], () => false),
    0,
  );
});

test('dialects that write arguments as a whole count them at the end of their call', () => {
  const writing = {
    requestId: 'req_1',
    requestedModel: 'm',
    request: {},
    createdAtMs: 0,
    nowMs: () => 2000,
    inputTokensEstimate: 1,
    newId: (prefix: string) => `${prefix}_1`,
    notes: { adapted: () => {}, emulated: () => {}, dropped: () => {}, list: () => [], refuse: (): never => assert.fail() },
  };
  for (const [id, early] of [
    ['gemini-generate-content', 0],
    ['openai-chat', 5],
  ] as const) {
    const encoder = chatDialects[id].codec.createEventEncoder(writing, 'sse');
    const delivered = new DeliveredCount();
    const pass = (events: readonly InferenceEvent[]): void => events.forEach((event) => void delivered.encode(encoder, event));
    pass([{ type: 'started' }, ...blockOf(0, 'tool-call', '{"a":')]);
    assert.equal(delivered.characters, early, id);
    pass([{ type: 'delta', index: 0, text: '1}' }, end(0)]);
    assert.equal(delivered.characters, 7, id);
  }
});

test('no output beyond the delivered part is charged, whatever the upstream reports', () => {
  const usage = Object.fromEntries(meterNames.map((meter) => [meter, 1000]));
  const report = { usageReport: { usage, raw: {}, trustworthy: true }, outputCharacters: 9000 };
  const limited = limitToDelivered(report, 40);
  const left = Object.keys(limited.usageReport?.usage ?? {});
  assert.equal(limited.outputCharacters, 40);
  assert.deepEqual(
    left.filter((meter) => meter in meters),
    meterNames.filter((meter) => {
      const facts = meters[meter];
      return facts.unit !== 'token' || facts.side === 'input';
    }),
  );
  assert.ok(!left.includes('outputImageTokens'));
  assert.ok(left.includes('inputTokens'));
});
