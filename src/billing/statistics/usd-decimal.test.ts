import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { usdDecimal } from './usd-decimal.ts';

test('small, large and negative amounts are written in full, without exponent and without trailing zeros', () => {
  const cases: [bigint, string][] = [
    [0n, '0'],
    [1n, '0.000000001'],
    [120n, '0.00000012'],
    [1_230_000n, '0.00123'],
    [1_000_000_000n, '1'],
    [-1_500_000_000n, '-1.5'],
    [12_345_678_901_234_567_890n, '12345678901.23456789'],
    [10n ** 40n, `1${'0'.repeat(31)}`],
  ];
  for (const [amount, text] of cases) assert.equal(usdDecimal(amount), text);
});

test('every amount is read back exactly, and its text is a plain JSON number', () => {
  fc.assert(
    fc.property(fc.oneof(fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }), fc.maxSafeInteger().map(BigInt)), (amount) => {
      const text = usdDecimal(amount);
      assert.match(text, /^-?(0|[1-9]\d*)(\.\d{0,8}[1-9])?$/);
      const [whole = '', fraction = ''] = text.replace('-', '').split('.');
      const magnitude = BigInt(whole + fraction.padEnd(9, '0'));
      assert.equal(text.startsWith('-') ? -magnitude : magnitude, amount);
    }),
  );
});
