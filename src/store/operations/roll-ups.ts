import { StoreError } from '../store-error.ts';
import type { UsageIncrement } from './call-entry-row.ts';
import type { Database } from './database.ts';
import { dayStart, readDailySums } from './day-zone.ts';
import { inParts, perRows, valuesOf } from './in-parts.ts';
import { sumColumns } from './roll-up-columns.ts';

/** A table of sums: the statement that adds to a row, and the unit of its time. */
type RollUp = { readonly upsert: (rows: number) => string; readonly unitMs: number };

/**
 * One of several sums that were written together does not fit, and the database does not say which. Undoes the
 * transaction; a repetition with single sums finds it.
 */
export class SumRefusedError extends Error {}

const minuteMs = 60_000;
const hourMs = 3_600_000;
const dayMs = 86_400_000;
const minutes: RollUp = { unitMs: minuteMs, upsert: createUpsert('usage_minutes', 'minute') };
const hours: RollUp = { unitMs: hourMs, upsert: createUpsert('usage_hours', 'hour') };
/** Days can begin at any minute, depending on their time zone. */
const days: RollUp = { unitMs: minuteMs, upsert: createUpsert('usage_days', 'day') };

const insertVersions = perRows(
  (rows) => `insert into usage_price_versions (day, user_name, price_version) ${valuesOf('(?, ?, ?)', rows)}
    on conflict (day, user_name, price_version) do nothing`,
);

/**
 * Adds calls that were just booked to all roll-ups, in the transaction that books them. Throws StoreError
 * `entry-out-of-range`, and SumRefusedError if several sums were written together.
 * @param sumsPerInsert how many sums are written together: the largest number first, 1 last
 */
export async function addToRollUps(
  database: Database,
  increments: readonly UsageIncrement[],
  sumsPerInsert: readonly number[],
): Promise<void> {
  const write = (rollUp: RollUp, sums: readonly RollUpSum[]): Promise<void> => writeSums(database, rollUp, sums, sumsPerInsert);
  if (increments.length === 0) return;
  const byMinute = sumUp(increments, (ms) => Math.floor(ms / minuteMs) * minuteMs);
  await write(minutes, byMinute);
  await write(
    hours,
    sumUp(byMinute, (ms) => Math.floor(ms / hourMs) * hourMs),
  );
  // The lock keeps the days in this time zone until the transaction ends.
  const { zone, fromMinute } = await readDailySums(database, database.fragments.forShare);
  const byDay = sumUp(byMinute, (ms) => dayStart(ms, zone));
  await write(
    days,
    byDay.filter((sum) => sum.acceptedAtMs >= fromMinute * minuteMs),
  );
  const versions = new Map(increments.map((call) => [priceVersionKey(call), call]));
  const used = [...versions.keys()].toSorted().flatMap((key) => versions.get(key) ?? []);
  for (const part of inParts(used, sumsPerInsert)) {
    const values = part.flatMap((call) => [Math.floor(call.acceptedAtMs / dayMs), call.names[0], call.priceVersion]);
    await database.run(insertVersions(part.length), ...values);
  }
}

function priceVersionKey({ acceptedAtMs, names, priceVersion }: UsageIncrement): string {
  return `${Math.floor(acceptedAtMs / dayMs)}\0${names[0]}\0${priceVersion}`;
}

/** What one batch adds to one row of a roll-up. */
type RollUpSum = Omit<UsageIncrement, 'callId' | 'priceVersion'> & { readonly callIds: string[]; readonly amounts: (number | bigint)[] };

/**
 * Sums of increments, or of finer sums, by unit of time and names.
 * @param startOf the beginning of the unit of time that contains a moment
 */
function sumUp(parts: readonly (UsageIncrement | RollUpSum)[], startOf: (acceptedAtMs: number) => number): readonly RollUpSum[] {
  const sums = new Map<string, RollUpSum>();
  let last: RollUpSum | undefined;
  for (const part of parts) {
    const acceptedAtMs = startOf(part.acceptedAtMs);
    // Consecutive calls often belong to the same sum, and comparing is cheaper than a look-up.
    const sum = last !== undefined && countsFor(last, acceptedAtMs, part.names) ? last : findSum(sums, acceptedAtMs, part.names);
    last = sum;
    if ('callIds' in part) sum.callIds.push(...part.callIds);
    else sum.callIds.push(part.callId);
    for (let index = 0; index < part.amounts.length; index++) {
      sum.amounts[index] = add(sum.amounts[index] ?? 0, part.amounts[index] ?? 0);
    }
  }
  // All transactions write in the same order, so that no two deadlock. Any order will do.
  const keys = [...sums.keys()].toSorted();
  return keys.flatMap((key) => sums.get(key) ?? []);
}

function countsFor(sum: RollUpSum, acceptedAtMs: number, [userName, tokenName, modelName]: UsageIncrement['names']): boolean {
  const [sumUser, sumToken, sumModel] = sum.names;
  return sum.acceptedAtMs === acceptedAtMs && sumToken === tokenName && sumModel === modelName && sumUser === userName;
}

/** The sum of a unit of time and names; creates it if there is none. */
function findSum(sums: Map<string, RollUpSum>, acceptedAtMs: number, names: UsageIncrement['names']): RollUpSum {
  const [userName, tokenName, modelName] = names;
  // NUL cannot be in a name: it is not storable text.
  const key = `${acceptedAtMs}\0${userName}\0${tokenName}\0${modelName}`;
  return sums.getOrInsertComputed(key, () => ({ acceptedAtMs, names, callIds: [], amounts: [] }));
}

/** An exact sum: of numbers while they are exact, which is nearly always and costs a tenth. */
function add(one: number | bigint, other: number | bigint): number | bigint {
  if (typeof one === 'number' && typeof other === 'number') {
    const sum = one + other;
    if (Number.isSafeInteger(sum)) return sum;
  }
  return BigInt(one) + BigInt(other);
}

async function writeSums(database: Database, rollUp: RollUp, sums: readonly RollUpSum[], sumsPerInsert: readonly number[]): Promise<void> {
  for (const part of inParts(sums, sumsPerInsert)) await writeTogether(database, rollUp, part);
}

async function writeTogether(database: Database, { upsert, unitMs }: RollUp, sums: readonly RollUpSum[]): Promise<void> {
  const values: (string | number | bigint)[] = [];
  for (const sum of sums) values.push(sum.acceptedAtMs / unitMs, ...sum.names, ...sum.amounts);
  try {
    await database.run(upsert(sums.length), ...values);
  } catch (error) {
    if (error instanceof StoreError && error.kind !== 'constraint' && error.kind !== 'internal') throw error;
    if (sums.length > 1) throw new SumRefusedError('One of several sums does not fit.', { cause: error });
    const message = 'Entries cannot be booked: with them the sum of their minute exceeds 64 bits.';
    throw new StoreError('entry-out-of-range', message, { callIds: sums.flatMap(({ callIds }) => callIds), cause: error });
  }
}

function createUpsert(table: string, unit: string): (rows: number) => string {
  return perRows((rows) => writeUpsert(table, unit, rows));
}

function writeUpsert(table: string, unit: string, rows: number): string {
  const row = `(?, ?, ?, ?, ${sumColumns.map(() => '?').join(', ')})`;
  return `insert into ${table} (${unit}, user_name, token_name, model_name, ${sumColumns.join(', ')})
    ${valuesOf(row, rows)}
    on conflict (${unit}, user_name, token_name, model_name)
    do update set ${sumColumns.map((column) => `${column} = ${table}.${column} + excluded.${column}`).join(', ')}`;
}
