import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { buildReceipt } from '../../../src/billing/receipts/build-receipt.ts';
import { callRows } from '../../../src/billing/receipts/testing/receipt-arbitrary.ts';
import { recomputeReceipt } from './recompute.ts';

test('every receipt that the server can write is recomputed without a difference', async () => {
  await fc.assert(
    fc.asyncProperty(callRows, async (rows) => {
      assert.deepEqual(await recomputeReceipt(buildReceipt(rows, true)), []);
    }),
    { numRuns: 100 },
  );
});

test('a changed quantity is named, and everything that follows from it', async () => {
  await fc.assert(
    fc.asyncProperty(callRows, async (rows) => {
      const receipt = buildReceipt(rows, true);
      const [row] = receipt.rows;
      const line = row?.lines[0];
      fc.pre(row !== undefined && line !== undefined && line.unit_price_usd !== '0');
      if (row === undefined || line === undefined) return;
      const changed = {
        ...receipt,
        rows: [{ ...row, lines: [{ ...line, quantity: line.quantity + 1 }, ...row.lines.slice(1)] }, ...receipt.rows.slice(1)],
      };
      const places = (await recomputeReceipt(changed)).map(({ place }) => place);
      assert.ok(places.includes('row 1, line 1') && places.includes('digest'), places.join());
    }),
    { numRuns: 30 },
  );
});
