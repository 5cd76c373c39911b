import { type NewCalls, newCallColumns, type NumberedRow } from '../operations/new-calls.ts';
import { readInteger, readOptionalInteger } from '../operations/read-column.ts';
import type { ValueRow } from '../operations/sql-values.ts';

// Rows of `calls` are never deleted and the file has one writer at a time, so the rowid counts up in the order of
// booking. A booking costs nothing for this.
const select = `select ${newCallColumns.join(', ')}, rowid from calls`;
const forward = `${select} where rowid >= ? order by rowid limit ?`;
const backward = `${select} where rowid <= ? order by rowid desc limit ?`;

const toNumbered = (values: ValueRow): NumberedRow => ({ number: Number(values[newCallColumns.length]), values });

/** The new rows of a file: those after the last one that was read. */
export const newCalls: NewCalls = {
  take: async (transaction, { nextNumber, backNumber }, limit) => {
    const rows = (await transaction.rows(forward, nextNumber, limit)).map(toNumbered);
    const next = (rows.at(-1)?.number ?? nextNumber - 1) + 1;
    if (rows.length === limit || backNumber <= 0) return { rows, positions: { nextNumber: next, backNumber } };
    const old = (await transaction.rows(backward, backNumber, limit - rows.length)).map(toNumbered);
    return { rows: [...rows, ...old], positions: { nextNumber: next, backNumber: (old.at(-1)?.number ?? 1) - 1 } };
  },
  takeBooked: async (transaction, { nextNumber, backNumber }, booked) => {
    const last = await transaction.first('select max(rowid) as number from calls');
    const next = last === undefined ? 0 : readInteger(last, 'number') + 1;
    return next - booked === nextNumber ? { nextNumber: next, backNumber } : undefined;
  },
  areWaiting: async (database, { nextNumber, backNumber }) =>
    backNumber > 0 || (await database.first('select 1 as one from calls where rowid >= ? limit 1', nextNumber)) !== undefined,
  measure: async (database, { nextNumber, backNumber }) => {
    const sql = 'select count(*) as waiting, min(accepted_at_ms) as earliest_ms from calls where rowid >= ?';
    const row = await database.first(sql, nextNumber);
    const earliestMs = row === undefined ? undefined : readOptionalInteger(row, 'earliest_ms');
    return { waiting: row === undefined ? 0 : readInteger(row, 'waiting'), old: Math.max(0, backNumber), earliestMs };
  },
};
