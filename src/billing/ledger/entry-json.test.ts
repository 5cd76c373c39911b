import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import type { CallEntry } from './call-entry.ts';
import { decodeEntry, encodeEntry, encodeOpening } from './entry-json.ts';

const text = fc.string({ unit: 'binary', maxLength: 300 });
const count = fc.nat();
const maybe = <Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Value | undefined> => fc.option(value, { nil: undefined });

const line = fc.record(
  { meter: text, quantity: count, unitPrice: text, per: count, multipliers: fc.dictionary(text, text) },
  { requiredKeys: ['meter', 'quantity', 'unitPrice', 'per'] },
);
const entries: fc.Arbitrary<CallEntry> = fc.record(
  {
    callId: text,
    acceptedAtMs: count,
    userName: text,
    keyId: text,
    keyName: text,
    dialect: text,
    requestedModel: text,
    upstream: text,
    vendor: text,
    upstreamModel: text,
    stream: fc.boolean(),
    inputCharacters: count,
    priceVersion: text,
    end: fc.constantFrom('finished', 'client-left', 'cut', 'failed', 'lost'),
    upstreamStatus: count,
    upstreamRequestId: text,
    servedModel: text,
    replyId: text,
    stopReason: text,
    serviceTier: text,
    errorCode: text,
    usage: fc.record({ inputTokens: count, outputTokens: count }, { requiredKeys: [] }),
    rawUsage: maybe(fc.jsonValue()),
    estimated: fc.boolean(),
    durationMs: fc.double({ min: 0, max: 1e9, noNaN: true }),
    firstByteMs: count,
    charge: fc.record(
      { amountNanoUsd: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n }), lines: fc.array(line, { maxLength: 3 }), priceId: text },
      { requiredKeys: ['amountNanoUsd', 'lines'] },
    ),
  },
  {
    requiredKeys: [
      'callId',
      'acceptedAtMs',
      'userName',
      'keyId',
      'keyName',
      'dialect',
      'requestedModel',
      'upstream',
      'vendor',
      'upstreamModel',
      'stream',
      'inputCharacters',
      'priceVersion',
      'end',
      'usage',
      'estimated',
      'durationMs',
      'charge',
    ],
  },
);

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
