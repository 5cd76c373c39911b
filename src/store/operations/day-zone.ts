import { bucketsBetween } from '../../billing/statistics/buckets-between.ts';
import { StoreError } from '../store-error.ts';
import type { Database } from './database.ts';
import { readInteger, readText } from './read-column.ts';
import { sumColumns } from './roll-up-columns.ts';

const dayGranularity = 3;
/** Days in one question to the calendar: a hundred years. */
const daysMax = 36_600;

/** Which days are kept in usage_days: those of a time zone that begin at `fromMinute` or later, in minutes since 1970. What lies before is summed up from hours. */
export type DailySums = { readonly zone: string; readonly fromMinute: number };

/** All days are kept. As the migration has it. */
const allDays = Number.MIN_SAFE_INTEGER;

/** @param lock ends the query: words of the engine, or nothing */
export async function readDailySums(database: Database, lock = ''): Promise<DailySums> {
  const row = await database.first(`select time_zone, from_minute from usage_day_zone where id = 1 ${lock}`);
  if (row === undefined) throw new StoreError('corrupt', 'The database lacks the time zone of its statistics.');
  return { zone: readText(row, 'time_zone'), fromMinute: readInteger(row, 'from_minute') };
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
 * Takes a step towards keeping all days of a time zone. The first makes it the zone of the days that begin after everything that was booked; each further one adds up one day, the newest first, from
 * hours and, where it does not begin with one, minutes. Who books waits for one step at most. Between them, statistics are right and take longer; whoever died on the way, somebody else goes on.
 * @param begins false goes on only while the zone is still this one: processes that want different zones do not undo each other's work for ever
 * @returns `done` when there was nothing to do, and nothing was done
 */
export async function sumDaysStep(database: Database, zone: string, begins: boolean): Promise<'done' | 'more'> {
  const isDone = (kept: DailySums): boolean => (kept.zone === zone ? kept.fromMinute === allDays : !begins);
  if (isDone(await readDailySums(database))) return 'done';
  return await database.transact(async (transaction) => {
    const kept = await readDailySums(transaction, transaction.fragments.forUpdate('usage_day_zone'));
    if (isDone(kept)) return 'done';
    if (kept.zone === zone) await addUpDayBefore(transaction, kept);
    else await beginZone(transaction, zone);
    return 'more';
  }, 'read-committed');
}

const hourMinutes = 60;
const writeZone = 'update usage_day_zone set time_zone = ?, from_minute = ? where id = 1';

async function beginZone(database: Database, zone: string): Promise<void> {
  const minute = await readLast(database, 'select max(hour) * 60 + 59 as minute from usage_hours');
  const day = await readLast(database, 'select max(day) as minute from usage_days');
  const last = minute === undefined || day === undefined ? (minute ?? day) : Math.max(minute, day);
  await database.run(writeZone, zone, last === undefined ? allDays : dayAround(last, zone).end);
}

async function addUpDayBefore(database: Database, { zone, fromMinute }: DailySums): Promise<void> {
  const sql = 'select max(hour) * 60 + 59 as minute from usage_hours where hour < ?';
  const minute = await readLast(database, sql, Math.ceil(fromMinute / hourMinutes));
  // The hour may go on into the day that is kept already.
  const start = minute === undefined ? allDays : dayAround(Math.min(minute, fromMinute - 1), zone).start;
  // What is there is of the zone before.
  await database.run('delete from usage_days where day >= ? and day < ?', start, fromMinute);
  if (minute !== undefined) await addUpDay(database, start, dayAround(start, zone).end);
  await database.run(writeZone, zone, start);
}

async function readLast(database: Database, sql: string, ...parameters: readonly number[]): Promise<number | undefined> {
  const row = await database.first(sql, ...parameters);
  return row === undefined || row['minute'] === null ? undefined : readInteger(row, 'minute');
}

/** The day that a minute lies in, in minutes since 1970. */
function dayAround(minute: number, zone: string): { readonly start: number; readonly end: number } {
  const [start, end] = dayBounds(minute * 60, minute * 60 + 1, zone);
  if (start === undefined || end === undefined) throw new StoreError('internal', 'A minute lies in no day.');
  return { start: start / 60, end: end / 60 };
}

const names = 'user_name, token_name, model_name';

/** Only the hours that lie in the day whole are taken whole. */
async function addUpDay(database: Database, day: number, end: number): Promise<void> {
  const [fromHour, untilHour] = [Math.ceil(day / hourMinutes), Math.floor(end / hourMinutes)];
  const columns = sumColumns.join(', ');
  const sql = `insert into usage_days (day, ${names}, ${columns})
    select cast(? as bigint), ${names}, ${sumColumns.map((column) => `sum(${column})`).join(', ')} from (
      select ${names}, ${columns} from usage_hours where hour >= ? and hour < ?
      union all select ${names}, ${columns} from usage_minutes where minute >= ? and minute < ?
      union all select ${names}, ${columns} from usage_minutes where minute >= ? and minute < ?
    ) as parts group by ${names}`;
  await database.run(sql, day, fromHour, untilHour, day, fromHour * hourMinutes, untilHour * hourMinutes, end);
}
