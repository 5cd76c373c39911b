import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { cutAtSequences } from './cut-at-sequences.ts';
import type { InferenceEvent } from './inference-event.ts';
import { serializeBlocks } from './serialize-blocks.ts';

const index = fc.nat(3);
const event: fc.Arbitrary<InferenceEvent> = fc.oneof(
  index.map((at): InferenceEvent => ({ type: 'block-started', index: at, block: { kind: 'text' } })),
  index.map((at): InferenceEvent => ({ type: 'block-started', index: at, block: { kind: 'tool-call', id: 'c', name: 'f' } })),
  index.map((at): InferenceEvent => ({ type: 'delta', index: at, text: 'ab' })),
  index.map((at): InferenceEvent => ({ type: 'block-ended', index: at })),
  index.map((at): InferenceEvent => ({ type: 'proof', index: at, proof: { origin: 'o', blob: 'b' } })),
  fc.constant<InferenceEvent>({ type: 'usage', usageReport: { usage: {}, raw: {}, trustworthy: true } }),
  fc.constant<InferenceEvent>({ type: 'finished', stopReason: 'end' }),
);

test('for any input, one block is open at a time, indices count up, and nothing is outside of a block or after the end', () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 30 }), (events) => {
      const step = serializeBlocks();
      let open: number | undefined;
      let next = 0;
      let hasFinished = false;
      for (const passed of events.flatMap((one) => step(one))) {
        assert.equal(hasFinished, false, 'nothing follows the end');
        if (passed.type === 'finished') {
          hasFinished = true;
          assert.equal(open, undefined, 'the end leaves no block open');
        }
        if (!('index' in passed)) continue;
        assert.equal(passed.index, next);
        if (passed.type === 'block-started') {
          assert.equal(open, undefined);
          open = passed.index;
        } else assert.equal(open, next);
        if (passed.type !== 'block-ended') continue;
        open = undefined;
        next += 1;
      }
      assert.equal(
        hasFinished,
        events.some(({ type }) => type === 'finished'),
      );
    }),
    { numRuns: 500 },
  );
});

test('blocks without an end keep their text when the stream finishes', () => {
  const step = serializeBlocks();
  const events: readonly InferenceEvent[] = [
    { type: 'block-started', index: 5, block: { kind: 'text' } },
    { type: 'block-started', index: 9, block: { kind: 'text' } },
    { type: 'delta', index: 9, text: 'waiting' },
    { type: 'finished', stopReason: 'end' },
  ];
  assert.deepEqual(
    events.flatMap((one) => step(one)).map((passed) => passed.type),
    ['block-started', 'block-ended', 'block-started', 'delta', 'block-ended', 'finished'],
  );
});

/** Finds the remaining text by comparing at every position. */
function cutSlowly(text: string, stops: readonly string[]): string {
  for (let end = 1; end <= text.length; end++) {
    const ending = stops
      .filter((stop) => stop !== '' && text.slice(0, end).endsWith(stop))
      .toSorted((first, second) => second.length - first.length);
    if (ending[0] !== undefined) return text.slice(0, end - ending[0].length);
  }
  return text;
}

test('for any sequences and pieces, a text is cut where the first sequence is complete', () => {
  const letters = (maxLength: number) => fc.string({ unit: fc.constantFrom('a', 'b'), maxLength });
  fc.assert(
    fc.property(fc.array(letters(6), { maxLength: 8 }), fc.array(letters(4), { maxLength: 4 }), (pieces, stops) => {
      const step = cutAtSequences(stops);
      const events: readonly InferenceEvent[] = [
        { type: 'block-started', index: 0, block: { kind: 'text' } },
        ...pieces.map((text): InferenceEvent => ({ type: 'delta', index: 0, text })),
        { type: 'block-ended', index: 0 },
      ];
      const left = events.flatMap((one) => step(one)).flatMap((passed) => (passed.type === 'delta' ? [passed.text] : []));
      assert.equal(left.join(''), cutSlowly(pieces.join(''), stops));
    }),
    { numRuns: 500 },
  );
});
