import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import {
  columnDigits,
  columnMoney,
  exactDigits,
  exactMoney,
  fixedMoney,
  showChange,
  showChangeOrNew,
  showChartMoney,
  showMoney,
  showUsd,
} from './money.ts';

const plain = (text: string): string => text.replaceAll(/\s/gu, '').replace('\u2212', '-').replace('$', '');

test('an amount of 18 digits is written exactly', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(10n ** 27n), max: 10n ** 27n }), (nanos) => {
      const [whole = '', fraction = ''] = plain(exactMoney(nanos)).replace('-', '').split('.');
      const read = BigInt(whole) * 1_000_000_000n + BigInt(fraction.padEnd(9, '0'));
      assert.equal(read * (nanos < 0n ? -1n : 1n), nanos);
    }),
  );
});

test('an amount with a part of a dollar has two decimals or more', () => {
  assert.deepEqual([12_500_000_000n, -25_500_000_000n, 3_000_000_000n, 1_224_000n].map(exactMoney), [
    '$12.50',
    '\u2212$25.50',
    '$3',
    '$0.001224',
  ]);
});

test('an amount is never shown as nothing unless it is nothing', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 10n ** 20n }), (nanos) => {
      assert.match(showMoney(nanos), /[1-9]/);
    }),
  );
  assert.equal(showMoney(0n), '$0');
});

test('amounts have as many decimals as they need', () => {
  assert.equal(plain(showMoney(1_224_000n)), '0.001224');
  assert.equal(plain(showMoney(41_283_000_000n)), '41.2830');
  assert.equal(plain(showMoney(1_106_000_000_000n)), '1106.00');
  assert.equal(fixedMoney(-500_000_000n, 0), '\u2212$1');
  assert.equal(fixedMoney(-1n, 2), '$0.00');
  assert.equal(columnDigits([1_000_000_000n, 20_000_000n]), 4);
});

test('in a column, an amount below its last decimal is less than that, and never nothing', () => {
  assert.deepEqual(
    [0n, 1n, 499n, 500n, 1_000_000_000n].map((nanos) => columnMoney(nanos, 6)),
    ['$0.000000', '<$0.000001', '<$0.000001', '$0.000001', '$1.000000'],
  );
});

test('the axis of a chart has one form, and large amounts a short one', () => {
  const axis = (...ticks: bigint[]): readonly string[] => ticks.map((tick) => plain(showChartMoney.axis(ticks)(tick)));
  assert.deepEqual(axis(0n, 50_000_000n * 10n ** 9n, 100_000_000n * 10n ** 9n), ['0', '50M', '100M']);
  assert.deepEqual(axis(0n, 20_000n * 10n ** 9n), ['0', '20k']);
  assert.deepEqual(axis(0n, 2_000n * 10n ** 9n), ['0', '2000']);
  assert.deepEqual(axis(0n, 500_000_000n), ['0.00', '0.50']);
});

test('a change has a sign, and none can be told from nothing', () => {
  assert.equal(showChange(150n, 100n), '+50.0\u00a0%');
  assert.equal(showChange(50n, 100n), '\u221250.0\u00a0%');
  assert.equal(showChange(1n, 0n), undefined);
});

test('a change from almost nothing is short, and the last one in per cent is below ten times as much', () => {
  const changes = [999n, 1000n, 1299n, 100_099n, 100_100n, 123_456_789_987_654_321n].map((now) => showChange(now, 100n));
  assert.deepEqual(changes, ['+899.0\u00a0%', '×10', '×12', '×1000', '>×1000', '>×1000']);
  assert.equal(showChange(-(10n ** 17n), 3n), '>\u2212100000\u00a0%', 'a credit note after almost nothing');
  assert.equal(showChange(10n ** 17n, -3n), '>+100000\u00a0%');
});

test('in a table what was nothing before is new', () => {
  assert.deepEqual([showChangeOrNew(1n, 0n), showChangeOrNew(0n, 0n), showChangeOrNew(2n, 1n)], ['new', '—', '+100.0\u00a0%']);
});

test('the lines of a statement are never rounded', () => {
  assert.equal(exactDigits([25_500_000_000n, 0n]), 2);
  assert.equal(exactDigits([25_500_000_000n, -17_375_000n]), 6);
  assert.equal(exactDigits([100_000_000_000n, 1n]), 9);
  assert.equal(exactDigits([]), 2);
});

test('an amount that was written as a text keeps its decimals, and has its thousands apart', () => {
  assert.deepEqual(['999999999.999999999', '12.5', '1000', '0.000000001'].map(showUsd), [
    '$999\u00a0999\u00a0999.999999999',
    '$12.50',
    '$1\u00a0000',
    '$0.000000001',
  ]);
});
