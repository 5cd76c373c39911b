import assert from 'node:assert/strict';
import type { InferenceEvent } from '../../../inference/inference-event.ts';

/** Asserts that events keep to the grammar of inference-event.ts. `overlaps` allows blocks that are open at once, as decoders may have them. */
export function checkGrammar(events: readonly InferenceEvent[], { overlaps }: { readonly overlaps: boolean }): void {
  const open = new Set<number>();
  let next = 0;
  for (const [at, event] of events.entries()) {
    if (event.type === 'started') assert.equal(at, 0, 'started comes first');
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
}
