import type { Database } from '../database.ts';
import { dayStart, readDailySums } from '../day-zone.ts';
import { readInteger } from '../read-column.ts';
import { sumColumns } from '../roll-up-columns.ts';
import { encodePack, usageForm } from './pack.ts';

/** A day is packed this long after its end: most calls that were accepted before midnight are booked by then. */
const graceMs = 3_600_000;
/** A day with more groups is not packed: bookings would wait for longer than a tenth of a second. */
const groupsMax = 50_000;
const minuteMs = 60_000;

/** Days with rows but without a pack, the newest first. Each day is one look-up in the key. */
const findDay = `with recursive days (day) as (
    select max(day) from usage_days where day < ?
    union all select (select max(usage_days.day) from usage_days where usage_days.day < days.day) from days where days.day is not null
  ) select day from days where day >= ? and not exists (select 1 from usage_packs where usage_packs.day = days.day) limit 1`;

/** See UsageStore. */
export async function packUsageDay(database: Database, nowMs: number): Promise<'more' | 'done'> {
  if ((await findUnpacked(database, nowMs)) === undefined) return 'done';
  await database.transact(async (transaction) => {
    // Bookings share this lock until they end. So no row of the day is being written, and a later booking sees the
    // pack and deletes it.
    await transaction.first(`select id from usage_day_zone where id = 1 ${transaction.fragments.forUpdate('usage_day_zone')}`);
    const day = await findUnpacked(transaction, nowMs);
    if (day === undefined) return;
    const counted = await transaction.first(
      'select count(*) as rows from (select 1 as one from usage_days where day = ? limit ?) as groups',
      day,
      groupsMax + 1,
    );
    const isTooLarge = counted === undefined || readInteger(counted, 'rows') > groupsMax;
    const columns = ['user_name', 'token_name', 'model_name', ...sumColumns].join(', ');
    const rows = isTooLarge ? [] : await transaction.rows(`select ${columns} from usage_days where day = ? order by 1, 2, 3`, day);
    await transaction.run('update usage_day_zone set last_pack = last_pack + 1 where id = 1');
    const number = isTooLarge ? '0' : 'last_pack';
    const sql = `insert into usage_packs (day, number, sums) select cast(? as bigint), ${number}, ? from usage_day_zone where id = 1`;
    await transaction.run(sql, day, isTooLarge ? new Uint8Array() : encodePack(usageForm, rows));
  }, 'read-committed');
  return 'more';
}

async function findUnpacked(database: Database, nowMs: number): Promise<number | undefined> {
  const { zone, fromMinute } = await readDailySums(database);
  const row = await database.first(findDay, dayStart(nowMs - graceMs, zone) / minuteMs, fromMinute);
  return row === undefined ? undefined : readInteger(row, 'day');
}
