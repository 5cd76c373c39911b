import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { buildReceipt } from './build-receipt.ts';
import { readCounts, writeCounts } from './count-names.ts';
import { formatExact, formatUsd } from './exact-text.ts';
import { callRows } from './testing/receipt-arbitrary.ts';
import { verifyReceipt, verifyReceiptText } from './verify-receipt.ts';

test('the total is the sum of the rows, every row is the rounded sum of its lines, and the verification finds no problem', () => {
  fc.assert(
    fc.property(callRows, fc.boolean(), (rows, booked) => {
      const receipt = buildReceipt(rows, booked);
      assert.equal(
        BigInt(receipt.total.nano_usd),
        rows.reduce((sum, { charge }) => sum + charge.amountNanoUsd, 0n),
      );
      assert.deepEqual(verifyReceiptText(JSON.stringify(receipt)).problems, []);
      assert.deepEqual(verifyReceiptText(JSON.stringify(receipt, undefined, 2)).problems, []);
    }),
  );
});

test('one changed digit anywhere is detected', () => {
  fc.assert(
    fc.property(callRows, fc.nat(), fc.integer({ min: 1, max: 9 }), (rows, place, shift) => {
      const text = JSON.stringify(buildReceipt(rows, true));
      const digits = [...text.matchAll(/[0-9]/g)].map(({ index }) => index);
      const at = digits[place % digits.length] ?? 0;
      const changed = `${text.slice(0, at)}${(Number(text[at]) + shift) % 10}${text.slice(at + 1)}`;
      assert.notDeepEqual(verifyReceiptText(changed).problems, [], `${at}: ${text.slice(at - 40, at + 10)}`);
    }),
    { numRuns: 500 },
  );
});

test('a recomputed digest does not hide an amount that differs from its lines', () => {
  fc.assert(
    fc.property(callRows, (rows) => {
      const [call, ...parts] = rows;
      const dearer = { ...call, charge: { ...call.charge, amountNanoUsd: call.charge.amountNanoUsd + 1n } };
      const { problems } = verifyReceipt(buildReceipt([dearer, ...parts], true));
      assert.ok(problems.some(({ path }) => path === 'rows.0.amount.nano_usd'));
    }),
  );
});

test('a receipt changes only in `booked` when it is booked', () => {
  fc.assert(
    fc.property(callRows, (rows) => {
      const { booked: _one, ...before } = buildReceipt(rows, false);
      const { booked: _other, ...after } = buildReceipt(rows, true);
      assert.deepEqual(before, after);
    }),
  );
});

test('a value that is not a receipt is refused with each place', () => {
  for (const text of ['', '{', '[]', 'null', '{"object":"receipt","object":"receipt"}'])
    assert.notDeepEqual(verifyReceiptText(text).problems, [], text);
  const [rows] = fc.sample(callRows, 1);
  assert.ok(rows);
  const receipt = buildReceipt(rows, true);
  const { total: _total, ...without } = receipt;
  assert.deepEqual(
    verifyReceipt(without).problems.map(({ path }) => path),
    ['total'],
  );
  assert.deepEqual(
    verifyReceipt({ ...receipt, version: 2 }).problems.map(({ path }) => path),
    ['version'],
  );
});

test('amounts have all their digits', () => {
  for (const [nanoUsd, text] of [
    [0n, '0'],
    [1n, '0.000000001'],
    [250_000_000n, '0.25'],
    [1_000_000_000n, '1'],
    [12_345_678_901n, '12.345678901'],
    [100_000_000_000_000_000_000n, '100000000000'],
    [-1_500_000_000n, '-1.5'],
  ] as const)
    assert.equal(formatUsd(nanoUsd), text);
});

test('an exact amount is a decimal if there is one, and otherwise a fraction', () => {
  const exact = { '0/7': '0', '3/1': '3', '5/1000': '0.005', '1/3': '1/3', '14/420': '1/30', '123/64': '1.921875', '25/2': '12.5' };
  for (const [fraction, text] of Object.entries(exact)) {
    const [numerator = 0n, denominator = 1n] = fraction.split('/').map(BigInt);
    assert.equal(formatExact({ numerator, denominator }), text, fraction);
  }
});

test('counts have their own names in receipts, and are read by them', () => {
  const counts = {
    inputTokens: 1,
    cacheReadTokens: 2,
    cacheWrite5mTokens: 3,
    cacheWrite1hTokens: 4,
    inputAudioMs: 5,
    outputVideoMs: 6,
    webSearches: 7,
  };
  assert.deepEqual(Object.keys(writeCounts(counts)), [
    'input_tokens',
    'cache_read_tokens',
    'cache_write_5m_tokens',
    'cache_write_1h_tokens',
    'input_audio_ms',
    'output_video_ms',
    'web_searches',
  ]);
  assert.deepEqual(readCounts(writeCounts(counts)), counts);
  assert.deepEqual(writeCounts({ inputTokens: undefined, outputTokens: 0 }), { output_tokens: 0 });
});
