import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';

import { buildReceipt } from './build-receipt.ts';
import { callRows } from './testing/receipt-arbitrary.ts';
import { createMoneyWriter, describeUnit, showCredits } from './show-credits.ts';
import { verifyReceipt } from './verify-receipt.ts';

const unit = { name: 'coins', perUsd: '2000' };

test('a receipt shows its total in the unit of the operator, which is not in its digest or in the books', () => {
  fc.assert(
    fc.property(callRows, (rows) => {
      const receipt = buildReceipt(rows, true);
      const shown = showCredits(receipt, unit);
      assert.equal(shown.digest, receipt.digest);
      const expected = Number(receipt.total.nano_usd) / 500_000;
      assert.ok(Math.abs(Number(shown.credits?.total) - expected) <= expected * 1e-12, `${shown.credits?.total} for ${expected}`);
      assert.deepEqual(verifyReceipt(JSON.parse(JSON.stringify(shown))).problems, []);
      assert.equal(showCredits(receipt, undefined), receipt);
    }),
    { numRuns: 30 },
  );
});

test('a wrong total in the unit is detected', () => {
  fc.assert(
    fc.property(callRows, (rows) => {
      const shown = showCredits(buildReceipt(rows, true), unit);
      const wrong = { ...shown, credits: { ...shown.credits, total: `${shown.credits?.total}1` } };
      const paths = verifyReceipt(JSON.parse(JSON.stringify(wrong))).problems.map(({ path }) => path);
      assert.deepEqual(paths, ['credits.total']);
    }),
    { numRuns: 5 },
  );
});

test('amounts in answers have the unit only if it is set', () => {
  assert.deepEqual(createMoneyWriter(undefined)(1_500_000n), { nano_usd: '1500000', usd: '0.0015' });
  assert.deepEqual(createMoneyWriter(unit)(1_500_000n), { nano_usd: '1500000', usd: '0.0015', credits: '3' });
  assert.deepEqual(createMoneyWriter(unit)(-500n), { nano_usd: '-500', usd: '-0.0000005', credits: '-0.001' });
  assert.deepEqual([describeUnit(undefined), describeUnit(unit)], [{}, { credit_unit: { name: 'coins', per_usd: '2000' } }]);
});
