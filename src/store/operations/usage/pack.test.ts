import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { sumColumns } from '../roll-up-columns.ts';
import { Grouping, PackRanks, PackSums } from './add-packs.ts';
import { decodePack, encodePack, usageForm } from './pack.ts';
import { GroupTable } from './group-table.ts';

const integer = fc.oneof(fc.bigInt(0n, 5000n), fc.bigInt(0n, 10n ** 18n), fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n));
const row = fc.tuple(
  fc.constantFrom('alice', 'Ångström', '', '🐟'),
  fc.constantFrom('ci', 'key "1"'),
  fc.constantFrom('m-1', 'm-2', 'm-3'),
  ...sumColumns.map(() => integer),
);
const day = fc.uniqueArray(row, { maxLength: 12, selector: ([user, token, model]) => `${user}\0${token}\0${model}` });
const amountAt = 3 + sumColumns.indexOf('amount_nano_usd');

test('packed sums of any days are those of their rows, exactly, by bucket and by any names', () => {
  const scenario = fc.record({
    days: fc.array(day, { minLength: 1, maxLength: 6 }),
    columns: fc.subarray(['user_name', 'token_name', 'model_name'] as const),
    models: fc.option(fc.subarray(['m-1', 'm-2', 'absent'], { minLength: 1 }), { nil: undefined }),
  });
  fc.assert(
    fc.property(scenario, ({ days, columns, models }) => {
      const table = new GroupTable(usageForm);
      const packs = days.map((rows) => {
        const pack = decodePack(usageForm, encodePack(usageForm, rows));
        return { groups: table.numbersOf(pack), sums: pack.sums };
      });
      const keyOf = (of: (typeof days)[number][number]): string =>
        columns.map((column) => of[['user_name', 'token_name', 'model_name'].indexOf(column)]).join('\0');
      const grouping = new Grouping(table, (group) => {
        const names = [0, 1, 2].map((column) => table.nameOf(group, column));
        if (models !== undefined && !models.some((model) => model === names[2])) return undefined;
        return columns.map((column) => names[['user_name', 'token_name', 'model_name'].indexOf(column)] ?? '');
      });
      const ranks = new PackRanks(grouping, 'amount');
      for (const pack of packs) ranks.add(pack);
      const selected = days.map((rows) => rows.filter((each) => models === undefined || models.includes(each[2])));
      const amountOf = (rows: (typeof days)[number], key: string): bigint =>
        rows.reduce((sum, each) => sum + (keyOf(each) === key ? (each[amountAt] as bigint) : 0n), 0n);
      const keys = new Set(selected.flat().map(keyOf));
      assert.deepEqual(
        new Map(ranks.read().map(({ key, sum }) => [key.join('\0'), sum])),
        new Map([...keys].map((key) => [key, amountOf(selected.flat(), key)])),
      );
      const cells = new Map([...keys].map((key, cell) => [key, cell]));
      const sums = new PackSums(usageForm, grouping, (key) => cells.get(key.join('\0')), { size: keys.size, buckets: days.length });
      for (const [position, pack] of packs.entries()) sums.add(position, pack);
      for (const [key, cell] of cells) {
        const found = sums.read(cell);
        for (const [position, rows] of selected.entries()) {
          const has = rows.some((each) => keyOf(each) === key);
          assert.equal(found.get(position)?.amountNanoUsd, has ? amountOf(rows, key) : undefined);
          const calls = rows.reduce(
            (sum, each) => sum + (keyOf(each) === key ? (each[3 + sumColumns.indexOf('call_count')] as bigint) : 0n),
            0n,
          );
          assert.equal(found.get(position)?.calls, has ? Number(calls) : undefined);
        }
      }
    }),
  );
});

test('many large sums stay exact: two million rows of eighteen digits', () => {
  const amount = 123_456_789_012_345_679n;
  const tokens = Array.from({ length: 1000 }, (_, token) => `key-${token}`);
  const table = new GroupTable(usageForm);
  const decoded = decodePack(
    usageForm,
    encodePack(
      usageForm,
      tokens.map((token) => ['alice', token, 'm', 0n, 0n, 0n, 0n, 0n, 1n, amount]),
    ),
  );
  const pack = { groups: table.numbersOf(decoded), sums: decoded.sums };
  const ranks = new PackRanks(new Grouping(table, (group) => [table.nameOf(group, 0)]), 'amount');
  const days = 2200;
  for (let count = 0; count < days; count += 1) ranks.add(pack);
  assert.deepEqual(ranks.read(), [{ key: ['alice'], sum: amount * BigInt(days * tokens.length) }]);
});

test('bytes in another form are refused, also those that were cut', () => {
  const whole = encodePack(usageForm, [['alice', 'ci', 'm', 1n, 2n, 3n, 4n, 5n, 6n, 7n]]);
  for (const bytes of [
    new Uint8Array(),
    new Uint8Array(15),
    whole.slice(0, -1),
    Uint8Array.from(whole, (byte, at) => (at === 0 ? 2 : byte)),
  ]) {
    assert.throws(() => decodePack(usageForm, bytes), { kind: 'corrupt' });
  }
});
