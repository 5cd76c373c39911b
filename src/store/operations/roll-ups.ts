import { StoreError } from '../store-error.ts';
import { type CallRow, columnAt } from './call-entry-row.ts';
import type { Database } from './database.ts';
import { dayStart, readDailySums } from './day-zone.ts';
import { addExact, type Integer } from './exact-sum.ts';
import { inParts, perRows, valuesOf } from './in-parts.ts';
import { sumColumns } from './roll-up-columns.ts';
import type { SqlParameter } from './sql-values.ts';

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
 * Adds rows that were just booked to all roll-ups, in the transaction that books them. Throws StoreError
 * `entry-out-of-range`, and SumRefusedError if several sums were written together.
 * @param sumsPerInsert how many sums are written together: the largest number first, 1 last
 */
export async function addToRollUps(database: Database, rows: readonly CallRow[], sumsPerInsert: readonly number[]): Promise<void> {
  const write = (rollUp: RollUp, sums: readonly RollUpSum[]): Promise<void> => writeSums(database, rollUp, sums, sumsPerInsert);
  const billed = rows.filter(isBilled);
  if (billed.length === 0) return;
  const byMinute = sumByMinute(billed);
  await write(minutes, byMinute);
  await write(
    hours,
    joinSums(byMinute, (ms) => Math.floor(ms / hourMs) * hourMs),
  );
  // The lock keeps the days in this time zone until the transaction ends.
  const { zone, fromMinute } = await readDailySums(database, database.fragments.forShare);
  const byDay = joinSums(byMinute, (ms) => dayStart(ms, zone));
  await write(
    days,
    byDay.filter((sum) => sum.acceptedAtMs >= fromMinute * minuteMs),
  );
  for (const part of inParts(usedVersions(billed), sumsPerInsert)) await database.run(insertVersions(part.length), ...part.flat());
}

const at = {
  callId: columnAt('call_id'),
  acceptedAtMs: columnAt('accepted_at_ms'),
  userName: columnAt('user_name'),
  tokenName: columnAt('key_name'),
  modelName: columnAt('requested_model'),
  billed: columnAt('billed'),
};
/** The columns that are added up, in the order of `sumColumns`. A row is one call, or only a part of one. */
const addedColumns = sumColumns.map((column) => (column === 'call_count' ? undefined : columnAt(column)));

function isBilled({ values }: CallRow): boolean {
  const billed = values[at.billed];
  return billed === 1 || billed === 2;
}

type PriceVersion = readonly [day: number, userName: string, priceVersion: string];

/** The versions of the price book that priced some rows, in the order of all transactions. */
function usedVersions(rows: readonly CallRow[]): readonly PriceVersion[] {
  const versions = new Map<string, PriceVersion>();
  let last: PriceVersion | undefined;
  for (const { values, priceVersion } of rows) {
    const day = Math.floor(Number(values[at.acceptedAtMs]) / dayMs);
    const userName = String(values[at.userName]);
    if (last !== undefined && last[0] === day && last[1] === userName && last[2] === priceVersion) continue;
    last = [day, userName, priceVersion];
    versions.set(last.join('\0'), last);
  }
  return inOrder(versions);
}

/** All transactions write in the same order, so that no two deadlock. Any order will do. */
function inOrder<Value>(byKey: ReadonlyMap<string, Value>): readonly Value[] {
  return [...byKey].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, value]) => value);
}

type Names = readonly [userName: string, tokenName: string, modelName: string];

/** What one batch adds to one row of a roll-up. The amounts are in the order of `sumColumns`. */
type RollUpSum = { readonly acceptedAtMs: number; readonly names: Names; readonly callIds: string[]; readonly amounts: Integer[] };

/** Sums of rows by minute and names. */
function sumByMinute(rows: readonly CallRow[]): readonly RollUpSum[] {
  const sums = new Map<string, RollUpSum>();
  let last: RollUpSum | undefined;
  for (const { values } of rows) {
    const minute = Math.floor(Number(values[at.acceptedAtMs]) / minuteMs) * minuteMs;
    // Consecutive calls often belong to the same sum, and comparing is cheaper than a look-up.
    const sum = last !== undefined && countsFor(last, minute, values) ? last : findSum(sums, minute, namesOf(values));
    last = sum;
    sum.callIds.push(String(values[at.callId]));
    addAmounts(sum, values);
  }
  return inOrder(sums);
}

function addAmounts({ amounts }: RollUpSum, values: CallRow['values']): void {
  let index = 0;
  for (const column of addedColumns) {
    const amount = column === undefined ? Number(values[at.billed] === 1) : toCount(values[column]);
    amounts[index] = addExact(amounts[index] ?? 0, amount);
    index += 1;
  }
}

/**
 * Adds up sums in longer units of time.
 * @param startOf the beginning of the unit that contains a moment
 */
function joinSums(parts: readonly RollUpSum[], startOf: (acceptedAtMs: number) => number): readonly RollUpSum[] {
  const sums = new Map<string, RollUpSum>();
  for (const { acceptedAtMs, names, callIds, amounts } of parts) {
    const sum = findSum(sums, startOf(acceptedAtMs), names);
    sum.callIds.push(...callIds);
    for (const [index, amount] of amounts.entries()) sum.amounts[index] = addExact(sum.amounts[index] ?? 0, amount);
  }
  return inOrder(sums);
}

const namesOf = (values: CallRow['values']): Names => [
  String(values[at.userName]),
  String(values[at.tokenName]),
  String(values[at.modelName]),
];

/** A count of a row: an integer, and a bigint if a number would not be exact. */
function toCount(value: SqlParameter | undefined): Integer {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value;
  return typeof value === 'object' ? 0 : BigInt(value ?? 0);
}

function countsFor({ acceptedAtMs, names }: RollUpSum, minute: number, values: CallRow['values']): boolean {
  const [userName, tokenName, modelName] = names;
  return (
    acceptedAtMs === minute && tokenName === values[at.tokenName] && modelName === values[at.modelName] && userName === values[at.userName]
  );
}

/** The sum of a unit of time and names; creates it if there is none. */
function findSum(sums: Map<string, RollUpSum>, acceptedAtMs: number, names: Names): RollUpSum {
  const [userName, tokenName, modelName] = names;
  // NUL cannot be in a name: it is not storable text.
  const key = `${acceptedAtMs}\0${userName}\0${tokenName}\0${modelName}`;
  return sums.getOrInsertComputed(key, () => ({ acceptedAtMs, names, callIds: [], amounts: [] }));
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
