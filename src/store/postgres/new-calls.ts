import { type NewCalls, newCallColumns } from '../operations/new-calls.ts';
import { readInteger, readOptionalInteger } from '../operations/read-column.ts';

/** A statement that books calls leaves at most 64 ids together, and the migration left 200. */
const idsTogether = 64;

const take = (order: 'asc' | 'desc'): string => `with taken as (
    delete from call_queue where number in (select number from call_queue where is_old = ? order by number ${order} limit ?)
    returning number, call_ids
  )
  select ${newCallColumns.map((column) => `calls.${column}`).join(', ')} from taken cross join unnest(taken.call_ids) as booked (call_id)
    join calls on calls.call_id = booked.call_id`;

/** The new rows of a server: those whose ids the trigger on `calls` has left in the queue. */
export const newCalls: NewCalls = {
  take: async (transaction, { nextNumber, backNumber }, limit) => {
    const together = Math.max(1, Math.floor(limit / idsTogether));
    let found = await transaction.rows(take('asc'), 0, together);
    if (found.length === 0) found = await transaction.rows(take('desc'), 1, Math.max(1, Math.floor(together / 3)));
    const rows = found.map((values, index) => ({ number: nextNumber + index, values }));
    return { rows, positions: { nextNumber: nextNumber + rows.length, backNumber } };
  },
  areWaiting: async (database) => (await database.first('select 1 as one from call_queue limit 1')) !== undefined,
  measure: async (database) => {
    const sql = `select coalesce(sum(case when is_old = 0 then cardinality(call_ids) end), 0) as waiting,
        coalesce(sum(case when is_old = 1 then cardinality(call_ids) end), 0) as old from call_queue`;
    const row = await database.first(sql);
    // The first rows of the queue hold the calls that were booked first.
    const earliest = `select min(accepted_at_ms) as earliest_ms from
      (select unnest(call_ids) as call_id from (select call_ids from call_queue where is_old = 0 order by number limit 20) as first) as booked
      join calls on calls.call_id = booked.call_id`;
    const first = await database.first(earliest);
    return {
      waiting: row === undefined ? 0 : readInteger(row, 'waiting'),
      old: row === undefined ? 0 : readInteger(row, 'old'),
      earliestMs: first === undefined ? undefined : readOptionalInteger(first, 'earliest_ms'),
    };
  },
};
