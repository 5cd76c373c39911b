import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { entries } from './entry-arbitrary.ts';
import { decodeEntry, encodeEntry } from './entry-json.ts';
import { decodeForLedger, encodeForLedger, readLedgerText, toLedgerBytes } from './ledger-form.ts';

test('the entry comes out as it went in, whatever its names hold', () => {
  fc.assert(
    fc.property(entries, (entry) => {
      const text = encodeEntry(entry);
      const bytes = toLedgerBytes(encodeForLedger(entry, text));
      assert.equal(readLedgerText(bytes), text);
      assert.deepEqual(decodeForLedger(bytes), decodeEntry(JSON.parse(text)));
    }),
  );
});

test('an entry with a number that is not exact has no summary', () => {
  const [entry] = fc.sample(entries, 1);
  assert.ok(entry);
  const plain = { ...entry, usage: { inputTokens: 1 }, charge: { amountNanoUsd: 5n, lines: [] } };
  assert.notEqual(encodeForLedger(plain, '{}').head, '\n');
  const odd = [
    { ...plain, usage: { inputTokens: 2 ** 53 } },
    { ...plain, usage: { inputTokens: 1.5 } },
    { ...plain, usage: { inputTokens: 2 ** 53 - 1, cacheReadTokens: 1 } },
    { ...plain, usage: { reasoningTokens: Number.NaN } },
    { ...plain, durationMs: Number.NaN },
    { ...plain, acceptedAtMs: 0.5 },
    { ...plain, charge: { amountNanoUsd: 2n ** 53n, lines: [] } },
  ];
  for (const one of odd) assert.equal(encodeForLedger(one, '{}').head, '\n', JSON.stringify(one.usage));
});
