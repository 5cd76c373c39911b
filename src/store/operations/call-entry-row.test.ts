import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { entries } from '../../billing/ledger/testing/entry-arbitrary.ts';
import { encodeEntry } from '../../billing/ledger/entry-json.ts';
import { encodeForLedger } from '../../billing/ledger/ledger-form.ts';
import { type CallRow, readCallRow } from './call-entry-row.ts';

test('the summary and the entry give the same row', () => {
  const inRange = entries.filter(({ charge }) => charge.amountNanoUsd < 2n ** 63n && charge.amountNanoUsd > -(2n ** 63n));
  fc.assert(
    fc.property(inRange, (entry) => {
      const text = encodeEntry(entry);
      const summary = encodeForLedger(entry, [text])[0];
      // An amount may be a bigint in one and a number in the other; both are exact.
      const numbers = ({ values, ...rest }: CallRow): unknown => ({
        ...rest,
        values: values.map((value) => (typeof value === 'bigint' ? Number(value) : value)),
      });
      const bytes = Buffer.from(text);
      assert.deepEqual(numbers(readCallRow(summary, bytes)), numbers(readCallRow('', bytes)));
    }),
  );
});
