import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import type { CallEntry } from './call-entry.ts';
import { entries } from './testing/entry-arbitrary.ts';
import { decodeEntry, encodeEntry } from './entry-json.ts';
import { decodeForLedger, encodeForLedger, readLedgerText, toLedgerBytes } from './ledger-form.ts';

test('the entry is decoded as it was encoded, whatever its names contain', () => {
  fc.assert(
    fc.property(entries, (entry) => {
      const text = encodeEntry(entry);
      const bytes = toLedgerBytes(encodeForLedger(entry, [text]));
      assert.equal(readLedgerText(bytes), text);
      assert.deepEqual(decodeForLedger(bytes), decodeEntry(JSON.parse(text)));
    }),
  );
});

test('the summary has the members that a store searches for and adds up', () => {
  const [sample] = fc.sample(entries, 1);
  assert.ok(sample);
  const { replyId: _, heldPots: __, parentCallId: ___, toolUsage: ____, disputed: _____, settlement: ______, ...rest } = sample;
  const entry: CallEntry = {
    ...rest,
    callId: 'c',
    acceptedAtMs: 5,
    userName: 'u',
    keyName: 'n',
    requestedModel: 'm',
    priceVersion: 'v',
    keyId: 'k',
    end: 'finished',
    upstreamStatus: 200,
    durationMs: 7.6,
    usage: { inputTokens: 1, outputTokens: 2, cacheReadTokens: 3, cacheWrite5mTokens: 4 },
    charge: { amountNanoUsd: 9n, lines: [] },
  };
  const summaryOf = (one: CallEntry): unknown => JSON.parse(encodeForLedger(one, ['{}'])[0]);
  const common = ['c', 5, 'u', 'n', 'm', 9, 1, 8, 2, 3, 4, 8];
  assert.deepEqual(summaryOf(entry), [...common, null, 'k', 0, 'v']);
  assert.deepEqual(summaryOf({ ...entry, replyId: 'r', heldPots: 5 }), [...common, 'r', 'k', 5, 'v']);
  const disputed = { figures: [], reported: {} };
  const free = { amountNanoUsd: 0n, lines: [] };
  const marksOf = (one: CallEntry): unknown => (summaryOf(one) as readonly unknown[]).slice(common.length + 4);
  assert.deepEqual(marksOf({ ...entry, disputed }), [1]);
  assert.deepEqual(marksOf({ ...entry, charge: free }), [0, 1]);
  assert.deepEqual(marksOf({ ...entry, charge: free, disputed }), [1, 1]);
  assert.deepEqual(marksOf({ ...entry, charge: { ...free, priceId: 'free' } }), []);
});

test('an entry with a number that is not exact has no summary', () => {
  const [entry] = fc.sample(entries, 1);
  assert.ok(entry);
  const plain = { ...entry, usage: { inputTokens: 1 }, charge: { amountNanoUsd: 5n, lines: [] } };
  assert.notEqual(encodeForLedger(plain, ['{}'])[0], '');
  const odd = [
    { ...plain, usage: { inputTokens: 2 ** 53 } },
    { ...plain, usage: { inputTokens: 1.5 } },
    { ...plain, usage: { inputTokens: 2 ** 53 - 1, cacheReadTokens: 1 } },
    { ...plain, usage: { reasoningTokens: Number.NaN } },
    { ...plain, durationMs: Number.NaN },
    { ...plain, acceptedAtMs: 0.5 },
    { ...plain, charge: { amountNanoUsd: 2n ** 53n, lines: [] } },
  ];
  for (const one of odd) assert.equal(encodeForLedger(one, ['{}'])[0], '', JSON.stringify(one.usage));
});
