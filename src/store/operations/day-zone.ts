import { bucketsBetween } from '../../billing/statistics/buckets-between.ts';
import { StoreError } from '../store-error.ts';
import type { Database } from './database.ts';
import { readBigInt, readText } from './read-column.ts';
import { sumColumns } from './roll-up-columns.ts';

const dayGranularity = 3;
/** Days in one question to the calendar: a hundred years. */
const daysMax = 36_600;

/**
 * The time zone whose days are kept in usage_days.
 * @param lock ends the query: words of the engine, or nothing
 */
export async function readDayZone(database: Database, lock = ''): Promise<string> {
  const row = await database.first(`select time_zone from usage_day_zone where id = 1 ${lock}`);
  if (row === undefined) throw new StoreError('corrupt', 'The database lacks the time zone of its statistics.');
  return readText(row, 'time_zone');
}

let known: { readonly zone: string; readonly startMs: number; readonly endMs: number } | undefined;

/** When the day of a time zone began that a moment lies in, in Unix milliseconds. */
export function dayStart(ms: number, zone: string): number {
  // Calls mostly are of the same day as the one before.
  if (known?.zone === zone && known.startMs <= ms && ms < known.endMs) return known.startMs;
  const second = Math.floor(ms / 1000);
  const [day] = bucketsBetween({
    granularity: dayGranularity,
    startSeconds: second,
    endSeconds: second + 1,
    timeZone: zone,
    bucketsMax: 1,
  });
  if (day === undefined) throw new StoreError('internal', 'A moment lies in no day.');
  known = { zone, startMs: day.startSeconds * 1000, endMs: day.endSeconds * 1000 };
  return known.startMs;
}

/** Where the days of a time zone begin in a span, ascending, in Unix seconds, and where the last of them ends. */
export function dayBounds(startSeconds: number, endSeconds: number, zone: string): readonly number[] {
  const days = bucketsBetween({ granularity: dayGranularity, startSeconds, endSeconds, timeZone: zone, bucketsMax: daysMax });
  const last = days.at(-1);
  return last === undefined ? [] : [...days.map((day) => day.startSeconds), last.endSeconds];
}

/**
 * Keeps the days of another time zone from now on: all that was booked is added up anew, from the hours and, where its days do not begin with one, the minutes. Who books meanwhile waits.
 * @returns false when these are the days that are kept already
 */
export async function changeDayZone(database: Database, zone: string): Promise<boolean> {
  if ((await readDayZone(database)) === zone) return false;
  return await database.transact(async (transaction) => {
    if ((await readDayZone(transaction, transaction.words.forUpdate('usage_day_zone'))) === zone) return false;
    await transaction.run('update usage_day_zone set time_zone = ? where id = 1', zone);
    await transaction.run('delete from usage_days');
    const span = await transaction.first('select coalesce(min(hour), 0) as first, coalesce(max(hour) + 1, 0) as until from usage_hours');
    if (span === undefined) return true;
    const bounds = dayBounds(Number(readBigInt(span, 'first')) * 3600, Number(readBigInt(span, 'until')) * 3600, zone);
    for (const [index, start] of bounds.entries()) {
      const end = bounds[index + 1];
      if (end !== undefined) await addUpDay(transaction, start, end);
    }
    return true;
  }, 'read-committed');
}

const names = 'user_name, token_name, model_name';

/** Only the hours that lie in the day whole are taken whole. */
async function addUpDay(database: Database, startSeconds: number, endSeconds: number): Promise<void> {
  const [fromHour, untilHour] = [Math.ceil(startSeconds / 3600), Math.floor(endSeconds / 3600)];
  const day = startSeconds / 60;
  const columns = sumColumns.join(', ');
  const sql = `insert into usage_days (day, ${names}, ${columns})
    select cast(? as bigint), ${names}, ${sumColumns.map((column) => `sum(${column})`).join(', ')} from (
      select ${names}, ${columns} from usage_hours where hour >= ? and hour < ?
      union all select ${names}, ${columns} from usage_minutes where minute >= ? and minute < ?
      union all select ${names}, ${columns} from usage_minutes where minute >= ? and minute < ?
    ) as parts group by ${names}`;
  await database.run(sql, day, fromHour, untilHour, day, fromHour * 60, untilHour * 60, endSeconds / 60);
}
