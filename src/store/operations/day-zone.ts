import { bucketsBetween } from '../../billing/statistics/buckets-between.ts';
import { StoreError } from '../store-error.ts';
import type { Database } from './database.ts';
import { readInteger, readText } from './read-column.ts';
import { sumColumns } from './roll-up-columns.ts';

const dayGranularity = 3;
/** The most days in one query to the calendar: a hundred years. */
const daysMax = 36_600;

/**
 * The days in usage_days: days of a time zone that begin at `fromMinute` or later, in minutes since 1970. Earlier ones
 * are added up from hours.
 */
export type DailySums = { readonly zone: string; readonly fromMinute: number };

/** All days have sums. The default value in the migration. */
const allDays = Number.MIN_SAFE_INTEGER;

/** @param lock ends the query: a fragment of the engine, or nothing */
export async function readDailySums(database: Database, lock = ''): Promise<DailySums> {
  const row = await database.first(`select time_zone, from_minute from usage_day_zone where id = 1 ${lock}`);
  if (row === undefined) throw new StoreError('corrupt', 'The database lacks the time zone of its statistics.');
  return { zone: readText(row, 'time_zone'), fromMinute: readInteger(row, 'from_minute') };
}

let cached: { readonly zone: string; readonly startMs: number; readonly endMs: number } | undefined;

/** The beginning of the day, in a time zone, that contains a moment, in Unix milliseconds. */
export function dayStart(ms: number, zone: string): number {
  // Consecutive calls are usually of the same day.
  if (cached?.zone === zone && cached.startMs <= ms && ms < cached.endMs) return cached.startMs;
  const second = Math.floor(ms / 1000);
  const [day] = bucketsBetween({
    granularity: dayGranularity,
    startSeconds: second,
    endSeconds: second + 1,
    timeZone: zone,
    bucketsMax: 1,
  });
  if (day === undefined) throw new StoreError('internal', 'A moment is not in any day.');
  cached = { zone, startMs: day.startSeconds * 1000, endMs: day.endSeconds * 1000 };
  return cached.startMs;
}

/** The beginnings of the days of a time zone in a span, and the end of the last one, ascending, in Unix seconds. */
export function dayBounds(startSeconds: number, endSeconds: number, zone: string): readonly number[] {
  const days = bucketsBetween({ granularity: dayGranularity, startSeconds, endSeconds, timeZone: zone, bucketsMax: daysMax });
  const last = days.at(-1);
  return last === undefined ? [] : [...days.map((day) => day.startSeconds), last.endSeconds];
}

/**
 * Makes one step towards sums of all days of a time zone. The first step makes it the zone of the days that begin after
 * all booked calls. Each further step adds up one day, the newest first, from hours and, if it does not begin with an
 * hour, minutes. Booking waits for one step at most. Statistics are correct between steps, but slower. Any process can
 * continue the steps of one that died.
 * @param begins false continues only while the zone is still this one: otherwise processes with different zones would
 * undo each other's work forever
 * @returns `done` if there was nothing to do
 */
export async function sumDaysStep(database: Database, zone: string, begins: boolean): Promise<'done' | 'more'> {
  const isDone = (sums: DailySums): boolean => (sums.zone === zone ? sums.fromMinute === allDays : !begins);
  if (isDone(await readDailySums(database))) return 'done';
  return await database.transact(async (transaction) => {
    const sums = await readDailySums(transaction, transaction.fragments.forUpdate('usage_day_zone'));
    if (isDone(sums)) return 'done';
    if (sums.zone === zone) await addUpDayBefore(transaction, sums);
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
  // The hour may reach into the day after, which already has sums.
  const start = minute === undefined ? allDays : dayAround(Math.min(minute, fromMinute - 1), zone).start;
  // The existing rows belong to the previous zone.
  await database.run('delete from usage_days where day >= ? and day < ?', start, fromMinute);
  if (minute !== undefined) await addUpDay(database, start, dayAround(start, zone).end);
  await database.run(writeZone, zone, start);
}

async function readLast(database: Database, sql: string, ...parameters: readonly number[]): Promise<number | undefined> {
  const row = await database.first(sql, ...parameters);
  return row === undefined || row['minute'] === null ? undefined : readInteger(row, 'minute');
}

/** The day that contains a minute, in minutes since 1970. */
function dayAround(minute: number, zone: string): { readonly start: number; readonly end: number } {
  const [start, end] = dayBounds(minute * 60, minute * 60 + 1, zone);
  if (start === undefined || end === undefined) throw new StoreError('internal', 'A minute is not in any day.');
  return { start: start / 60, end: end / 60 };
}

const names = 'user_name, token_name, model_name';

/** Only hours that are completely in the day are used as hours. */
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
