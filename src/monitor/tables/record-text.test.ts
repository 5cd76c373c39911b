import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';

import { anyUnit } from '../../platform/testing/any-unit.ts';
import { exactNumber } from '../../billing/statistics/exact-number.ts';
import { usdDecimal } from '../../billing/statistics/usd-decimal.ts';
import { encodeCell, createRowSource, writeSheetXml } from '../../billing/workbook/sheet-xml.ts';
import { placeColumns } from '../../billing/workbook/sheet-layout.ts';
import { createCsvEncoder, encodeCsvCell } from './csv-text.ts';
import { createJsonEncoder } from './record-json.ts';
import { type Column, type TableRow, billColumns } from './table.ts';

const columns = billColumns as readonly Column<never>[] as readonly Column<TableRow>[];
const nasty = ['', '=1', 'a,b', '"', '<&>', '_x0041_', '\ud800', 'x'.repeat(201), 'é', '\n', '1', 'constructor', '__proto__'];

/** Rows whose texts sometimes repeat, as names do. */
const rowsOf: fc.Arbitrary<TableRow[]> = fc.array(
  fc
    .tuple(
      fc.array(fc.oneof(fc.constantFrom(...nasty), fc.string({ unit: anyUnit, maxLength: 5 })), { minLength: 4, maxLength: 4 }),
      fc.array(fc.oneof(fc.nat(), fc.double({ noNaN: true, noDefaultInfinity: true, min: 0 })), { minLength: 7, maxLength: 7 }),
      fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }),
    )
    .map(([texts, numbers, amount]) => {
      const text = [...texts];
      const number = [...numbers];
      return Object.fromEntries(
        columns.map(({ field, kind }) => {
          if (kind === 'amount') return [field, exactNumber(usdDecimal(amount))];
          return [field, (kind === 'text' ? text.pop() : number.pop()) ?? ''];
        }),
      );
    }),
  { maxLength: 30 },
);

test('records have the text of JSON.stringify, whatever records came before', () => {
  fc.assert(
    fc.property(rowsOf, (rows) => {
      const encode = createJsonEncoder(columns.map(({ field }) => field));
      for (const row of rows) assert.equal(encode(row), JSON.stringify(row));
    }),
  );
});

test('a line of CSV has the text of its single fields, whatever lines came before', () => {
  fc.assert(
    fc.property(rowsOf, (rows) => {
      const encode = createCsvEncoder(columns);
      for (const row of rows) assert.equal(encode(row), `${columns.map(({ field }) => encodeCsvCell(row[field] ?? '')).join(',')}\r\n`);
    }),
  );
});

test('a row of a sheet has the text of its single cells, whatever rows came before', async () => {
  const laidOut = placeColumns(columns);
  const options = { columns, rowsMax: 1000, printing: { orientation: 'landscape', pagesAcross: 1 }, title: '' } as const;
  await fc.assert(
    fc.asyncProperty(rowsOf, async (rows) => {
      let xml = '';
      for await (const piece of writeSheetXml(createRowSource([rows]), options, () => undefined)) xml += piece;
      const expected = rows.map((row, index) => {
        const cells = laidOut.map(({ field, kind, letter, style }) => encodeCell(`${letter}${index + 2}`, style, row[field], kind));
        return `<row r="${index + 2}">${cells.join('')}</row>`;
      });
      const body = xml.slice(xml.indexOf('</row>') + '</row>'.length, xml.lastIndexOf('</sheetData>'));
      assert.equal(body, expected.join(''));
    }),
  );
});

test('more texts than the cache holds are all written unchanged', () => {
  const encode = createJsonEncoder(['name']);
  for (let round = 0; round < 2; round += 1) {
    for (let number = 0; number < 2500; number += 1) assert.equal(encode({ name: `n-${number}` }), `{"name":"n-${number}"}`);
  }
});

test('an exact number keeps its text in JSON, and text that is not a number is refused', () => {
  assert.equal(JSON.stringify({ amount: exactNumber('0.000000001') }), '{"amount":0.000000001}');
  assert.throws(() => JSON.stringify(exactNumber('1, "x": 2')), SyntaxError);
});
