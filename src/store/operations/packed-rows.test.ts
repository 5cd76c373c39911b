import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';

import { StoreError } from '../store-error.ts';
import type { ValueRow } from './sql-values.ts';
import { decodeRows, packRows, unpackRows } from './packed-rows.ts';

const name = fc.oneof(fc.constantFrom('a', 'b', '', '__proto__'), fc.string());
// Doubles of SQLite, and integers as PostgreSQL writes them.
const count = fc.oneof(
  fc.nat(),
  fc.nat().map((value) => String(value)),
  fc.bigInt({ min: 0n, max: 2n ** 60n }),
);
const amount = fc.oneof(
  fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }),
  fc.bigInt().map((value) => String(value)),
);
const row: fc.Arbitrary<ValueRow> = fc.tuple(count, name, name, name, count, count, count, count, count, count, amount);

test('rows that stay in their thread equal rows that were packed for another thread', () => {
  fc.assert(fc.property(fc.array(row), (rows) => assert.deepEqual(decodeRows(rows), unpackRows(packRows(rows)))));
});

test('a value that is not a number, and an amount that is not an integer, are refused', () => {
  const good: ValueRow = [1, 'u', 'k', 'm', 1, 2, 3, 4, 5, 6, 7n];
  for (const [at, value] of [
    [0, 'x'],
    [4, null],
    [9, Number.NaN],
    [10, 7.5],
    [10, '7.5'],
    [10, null],
  ] as const) {
    assert.throws(
      () => decodeRows([good.with(at, value)]),
      (error) => error instanceof StoreError && error.kind === 'corrupt',
    );
  }
});
