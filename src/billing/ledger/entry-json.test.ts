import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import type { CallEntry } from './call-entry.ts';
import { entries } from './testing/entry-arbitrary.ts';
import { decodeEntry, encodeEntry, encodeOpening } from './entry-json.ts';

/** The meaning of the text: JSON without undefined members, and with the amount as text. */
const meaning = (entry: CallEntry): unknown =>
  JSON.parse(JSON.stringify({ ...entry, charge: { ...entry.charge, amountNanoUsd: entry.charge.amountNanoUsd.toString() } }));

test('the text has the content of the entry, with or without a given text of its opening', () => {
  fc.assert(
    fc.property(entries, (entry) => {
      const encoded = encodeEntry(entry);
      assert.deepEqual(JSON.parse(encoded), meaning(entry));
      assert.equal(encodeEntry(entry, encodeOpening(entry)), encoded);
      assert.deepEqual(meaning(decodeEntry(JSON.parse(encoded))), meaning(entry));
    }),
  );
});

test('each entry is written with its own names, even if they change between two calls of a key for a model', () => {
  const [first] = fc.sample(entries, 1);
  assert.ok(first);
  const names = {
    userName: 'u',
    keyId: 'k',
    keyName: 'n',
    dialect: 'd',
    requestedModel: 'm',
    upstream: 'p',
    vendor: 'v',
    upstreamModel: 'w',
    priceVersion: '1',
  };
  const last: CallEntry = { ...first, ...names, stream: false };
  const others: readonly CallEntry[] = [...Object.keys(names).map((name) => ({ ...last, [name]: 'changed' })), { ...last, stream: true }];
  for (const other of others) for (const entry of [last, other, other]) assert.deepEqual(JSON.parse(encodeEntry(entry)), meaning(entry));
});

test('a key and a model whose joined names equal those of others are not confused', () => {
  const [first] = fc.sample(entries, 1);
  assert.ok(first);
  for (const names of [
    { keyId: 'a', requestedModel: 'b\nc' },
    { keyId: 'a\nb', requestedModel: 'c' },
  ]) {
    const { keyId, requestedModel } = JSON.parse(encodeOpening({ ...first, ...names })) as CallEntry;
    assert.deepEqual({ keyId, requestedModel }, names);
  }
});

test('a text without a value is not an entry', () => {
  const charges = [
    {},
    { amountNanoUsd: 5 },
    ...['', '-', '1.5', '5 ', ' 5', '0x5', '9'.repeat(31)].map((amountNanoUsd) => ({ amountNanoUsd })),
  ];
  const nothing = [{}, { callId: 'a' }, { charge: { amountNanoUsd: '5' } }, ...charges.map((charge) => ({ callId: 'a', charge }))];
  for (const value of nothing) assert.throws(() => decodeEntry(value), /not a ledger entry/, JSON.stringify(value));
  assert.equal(decodeEntry({ callId: 'a', charge: { amountNanoUsd: '-5' } }).charge.amountNanoUsd, -5n);
});

test('a count that is not a number is written as null, which a ledger refuses', () => {
  const [entry] = fc.sample(entries, 1);
  assert.ok(entry);
  const written = JSON.parse(encodeEntry({ ...entry, durationMs: Number.NaN })) as { readonly durationMs: unknown };
  assert.equal(written.durationMs, null);
});
