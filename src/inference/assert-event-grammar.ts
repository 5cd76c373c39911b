import assert from 'node:assert/strict';

import type { InferenceEvent } from './inference-event.ts';

type GrammarOptions = {
  /** Whether the stream must be finished (true) or unfinished (false). Absent: both are right. */
  readonly isWhole?: boolean;
  /** Whether several blocks may be open at a time. Decoders may do that. */
  readonly overlaps?: boolean;
};

/** Asserts that events keep to the grammar of inference-event.ts. */
export function assertEventGrammar(events: readonly InferenceEvent[], { isWhole, overlaps = true }: GrammarOptions = {}): void {
  const open = new Set<number>();
  let next = 0;
  for (const [at, event] of events.entries()) {
    assert.equal(event.type === 'started', at === 0, 'started comes first, and only first');
    if (event.type === 'finished') {
      assert.equal(at, events.length - 1, 'finished comes last');
      assert.deepEqual([...open], [], 'every block has ended');
    }
    if (event.type === 'delta') assert.notEqual(event.text, '', 'no empty delta');
    if (!('index' in event)) continue;
    if (event.type === 'block-started' || event.type === 'part') {
      assert.equal(event.index, next++, 'indices count up');
      if (!overlaps) assert.equal(open.size, 0, 'one block at a time');
      if (event.type === 'block-started') open.add(event.index);
    } else {
      assert.ok(open.has(event.index), `${event.type} of an open block`);
      if (event.type === 'block-ended') open.delete(event.index);
    }
  }
  if (isWhole !== undefined) assert.equal(events.at(-1)?.type === 'finished', isWhole, 'it finishes only if it is whole');
}
