import { pricedMembers, type PricedEntry, type PricedRow, type PricedRowStore } from '../../billing/staging/priced-row.ts';
import { StoreError } from '../store-error.ts';
import { countMarks, fillTemplate, readShapedValues } from './call-shapes.ts';
import type { Database } from './database.ts';
import { membersOf } from './json-members.ts';
import { isInPage } from './page-of-calls.ts';
import { readText } from './read-column.ts';
import type { SqlParameter, ValueRow } from './sql-values.ts';

/** The highest `limit` of a page. */
const pageRowsMax = 10_000;
/** Shapes that are remembered. */
const shapesMax = 5000;

/** What the entries of a shape have in common, as far as their price depends on it. */
type PricedShape = {
  readonly marks: number;
  /** The marks whose values the price depends on. */
  readonly deciding: readonly number[];
  /** The members with these marks, as an object. */
  readonly template: string;
};

/** No text of an entry has this character. */
const separator = '\x1f';

const wanted: ReadonlySet<string> = new Set(pricedMembers);

/** The SQL of rows that are priced again. */
export function createPricedRowOperations(database: Database): PricedRowStore {
  const shapes = new Map<string, PricedShape>();
  const findShape = async (id: string): Promise<PricedShape> => {
    const known = shapes.get(id);
    if (known !== undefined) return known;
    const row = await database.first('select template from call_shapes where id = ?', Number(id));
    if (row === undefined) throw new StoreError('corrupt', `The ledger has no shape ${id}.`);
    const shape = describe(readText(row, 'template'));
    if (shapes.size >= shapesMax) shapes.clear();
    shapes.set(id, shape);
    return shape;
  };
  return {
    listPricedRows: async ({ limit, ...page }) => {
      if (!Number.isInteger(limit) || limit < 1 || limit > pageRowsMax)
        throw new StoreError('constraint', `The limit of a page must be from 1 to ${pageRowsMax}; got ${limit}.`);
      const { sql, parameters } = isInPage(page);
      const select = `select call_id, accepted_at_ms, amount_nano_usd, shape, entry from calls where ${sql} order by accepted_at_ms, call_id limit ?`;
      const rows: PricedRow[] = [];
      for (const row of await database.rows(select, ...parameters, limit)) {
        const shapeId = row[3] ?? null;
        rows.push(shapeId === null ? readWhole(row) : readShaped(row, String(shapeId), await findShape(String(shapeId))));
      }
      return rows;
    },
  };
}

function describe(template: string): PricedShape {
  const members: string[] = [];
  const deciding: number[] = [];
  let mark = 0;
  for (const { name, text } of membersOf(template)) {
    const count = countMarks(text);
    if (wanted.has(name)) {
      members.push(text);
      for (let index = 0; index < count; index += 1) deciding.push(mark + index);
    }
    mark += count;
  }
  return { marks: mark, deciding, template: `{${members.join(',')}}` };
}

const columnsOf = ([callId, acceptedAtMs, amount]: ValueRow): Omit<PricedRow, 'kind' | 'readEntry'> => ({
  callId: textOf(callId),
  acceptedAtMs: Number(acceptedAtMs),
  amountNanoUsd: BigInt(textOf(amount)),
});

function readShaped(row: ValueRow, shapeId: string, { marks, deciding, template }: PricedShape): PricedRow {
  const values = readShapedValues(textOf(row[4]));
  if (values.length !== marks) throw new StoreError('corrupt', 'An entry of the ledger does not fit its shape.');
  const own: string[] = [];
  for (const index of deciding) own.push(values[index] ?? '');
  const columns = columnsOf(row);
  return {
    ...columns,
    kind: [shapeId, ...own].join(separator),
    readEntry: () => JSON.parse(fillTemplate(template, own, columns.callId)) as PricedEntry,
  };
}

function readWhole(row: ValueRow): PricedRow {
  const text = textOf(row[4]);
  return { ...columnsOf(row), kind: undefined, readEntry: () => JSON.parse(text) as PricedEntry };
}

/** A column that is never null, as text. */
function textOf(value: SqlParameter | undefined): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  throw new StoreError('corrupt', 'A column of the ledger must be a text or a number.');
}
