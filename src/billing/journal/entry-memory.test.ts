import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createEntryMemory } from './entry-memory.ts';

test('stored texts do not change while others are added and released', () => {
  const memory = createEntryMemory();
  const stored = new Map<string, Buffer>();
  for (let round = 0; round < 5000; round++) {
    const text = `{"entry":${round},"text":"${'ü世'.repeat(round % 200)}"}`;
    stored.set(text, memory.keep(text.slice(0, 9), text.slice(9)));
    if (round % 3 === 0) continue;
    const [oldest] = stored.keys();
    if (oldest === undefined) continue;
    const bytes = stored.get(oldest);
    stored.delete(oldest);
    assert.ok(bytes);
    assert.equal(bytes.toString(), oldest);
    memory.release(bytes);
  }
  for (const [text, bytes] of stored) assert.equal(bytes.toString(), text);
});

test('a chunk is reused after all of it is released', () => {
  const memory = createEntryMemory();
  const seen = new Set<ArrayBufferLike>();
  for (let round = 0; round < 3000; round++) {
    const bytes = memory.keep('', 'x'.repeat(1000));
    seen.add(bytes.buffer);
    memory.release(bytes);
  }
  assert.ok(seen.size <= 2, `${seen.size} chunks`);
});

test('a text larger than a chunk has a chunk of its own', () => {
  const memory = createEntryMemory();
  const text = 'x'.repeat(1_000_000);
  const bytes = memory.keep(text.slice(0, 9), text.slice(9));
  assert.equal(bytes.toString(), text);
  memory.release(bytes);
});

/** With two texts of this length, the second needs another chunk. */
const most = 256 * 1024 - ((256 * 1024) % 3);
const large = (letter: string): string => letter.repeat(most / 3);

test('short texts share a chunk, and a text in it outlives the others', () => {
  const memory = createEntryMemory();
  const first = memory.keep('', 'first');
  memory.release(first);
  const second = memory.keep('', 'second');
  assert.equal(second.buffer, first.buffer);
  const others = ['x', 'y'].map((letter) => memory.keep('', large(letter)));
  assert.equal(second.toString(), 'second');
  assert.deepEqual(
    others.map((bytes) => bytes.toString()),
    [large('x'), large('y')],
  );
});

test('eight unused chunks are kept for reuse besides the current one, and not more', () => {
  const memory = createEntryMemory();
  const fill = (): Buffer[] => Array.from({ length: 12 }, () => memory.keep('', large('ü')));
  const before = fill();
  for (const bytes of before) memory.release(bytes);
  const earlier = new Set(before.map(({ buffer }) => buffer));
  assert.equal(fill().filter(({ buffer }) => earlier.has(buffer)).length, 8 + 1);
});
