import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import type { CallEntry } from './call-entry.ts';
import { entries } from './entry-arbitrary.ts';
import { decodeEntry, encodeEntry, encodeOpening } from './entry-json.ts';

/** What the text has to mean: JSON without what is undefined, and the amount as text. */
const meaning = (entry: CallEntry): unknown =>
  JSON.parse(JSON.stringify({ ...entry, charge: { ...entry.charge, amountNanoUsd: entry.charge.amountNanoUsd.toString() } }));

test('the text says what the entry says, with its opening at hand or not', () => {
  fc.assert(
    fc.property(entries, (entry) => {
      const encoded = encodeEntry(entry);
      assert.deepEqual(JSON.parse(encoded), meaning(entry));
      assert.equal(encodeEntry(entry, encodeOpening(entry)), encoded);
      assert.deepEqual(meaning(decodeEntry(JSON.parse(encoded))), meaning(entry));
    }),
  );
});

test('a text with nothing to tell is no entry', () => {
  for (const value of [{}, { callId: 'a' }, { callId: 'a', charge: {} }, { callId: 'a', charge: { amountNanoUsd: 5 } }])
    assert.throws(() => decodeEntry(value), /no ledger entry/);
});

test('a count that is no number is written as null, which no ledger takes for zero', () => {
  const [entry] = fc.sample(entries, 1);
  assert.ok(entry);
  const written = JSON.parse(encodeEntry({ ...entry, durationMs: Number.NaN })) as { readonly durationMs: unknown };
  assert.equal(written.durationMs, null);
});
