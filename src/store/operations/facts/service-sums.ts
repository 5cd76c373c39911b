import {
  addDuration,
  addEncoded,
  addHistogram,
  type DurationHistogram,
  emptyHistogram,
  encodeHistogram,
} from '../../../billing/calls/duration-histogram.ts';
import { endCodes } from '../../../billing/calls/call-fact.ts';
import type { Database } from '../database.ts';
import { dayStart } from '../day-zone.ts';
import { addExact, type Integer } from '../exact-sum.ts';
import { perRows, valuesOf, inParts } from '../in-parts.ts';
import { readBytes } from '../read-column.ts';
import type { SqlParameter } from '../sql-values.ts';
import { toWide } from '../wide-amount.ts';
import type { FollowedCall } from './followed-call.ts';

/** The numbers that stand for the names of a call's service. */
type ServiceRefs = { readonly upstream: number; readonly upstreamModel: number; readonly interface: number };

/** The columns that are added up, in the order of a sum's `counts`; the amount follows. */
const serviceCounts = [
  'ended',
  'attempts',
  'call_count',
  'prompt_tokens',
  'completion_tokens',
  'cache_tokens',
  'cache_creation_tokens',
  'use_time_ms',
] as const;

type ServiceSum = {
  readonly unit: number;
  readonly refs: ServiceRefs;
  readonly endCode: number;
  readonly counts: Integer[];
  amount: Integer;
  readonly firstByte: DurationHistogram;
  readonly duration: DurationHistogram;
};

const minuteMs = 60_000;
const minutesOfHour = 60;
/** Minutes are kept this long; then hours and single calls answer. */
export const minutesKeptMs = 30 * 86_400_000;

/**
 * The tables and their units, which begin with a minute.
 * @param zone the time zone of the days, and the first minute that has a day
 */
function tables(zone: { readonly name: string; readonly fromMinute: number }, nowMs: number) {
  const oldest = (nowMs - minutesKeptMs) / minuteMs;
  return [
    { table: 'service_minutes', unit: 'minute', unitOf: (minute: number) => minute, from: oldest },
    { table: 'service_hours', unit: 'hour', unitOf: (minute: number) => Math.floor(minute / minutesOfHour), from: -Infinity },
    {
      table: 'service_days',
      unit: 'day',
      unitOf: (minute: number) => dayStart(minute * minuteMs, zone.name) / minuteMs,
      from: zone.fromMinute,
    },
  ];
}

/**
 * Collects the rows of the ledger and their attempts as they count in the service of upstreams, and adds them to its
 * sums.
 */
export class ServiceSums {
  readonly #minutes: Sums = new Map();
  #last: ServiceSum | undefined;

  /** @param call the row that counts; undefined for an attempt before another one */
  add(refs: ServiceRefs, endCode: number, atMs: number, call: FollowedCall | undefined): void {
    const minute = Math.floor(atMs / minuteMs);
    const last = this.#last;
    // Consecutive calls often belong to the same sum, and comparing is cheaper than a look-up.
    const isOfLast = last !== undefined && last.unit === minute && last.refs === refs && last.endCode === endCode;
    const sum = isOfLast ? last : sumFor(this.#minutes, minute, refs, endCode);
    this.#last = sum;
    addCall(sum, call);
  }

  /**
   * Writes them, in the transaction of the follower. There is one follower at a time, so rows are read, added to and
   * written back: histograms are bytes, which SQL cannot add.
   * @param zone the time zone of the days that have sums, from a minute on
   */
  async write(database: Database, zone: { readonly name: string; readonly fromMinute: number }, nowMs: number): Promise<void> {
    for (const { table, unit, unitOf, from } of tables(zone, nowMs)) {
      const sums = joinSums(this.#minutes, unitOf).filter((sum) => sum.unit >= from);
      for (const sum of sums) await addHistograms(database, { table, unit }, sum);
      for (const part of inParts(sums, database.fragments.sumsPerInsert)) {
        const values = part.flatMap((sum): SqlParameter[] => [
          ...keyOf(sum),
          ...sum.counts,
          ...toWide(BigInt(sum.amount)),
          encodeHistogram(sum.firstByte),
          encodeHistogram(sum.duration),
        ]);
        await database.run(upsertOf(table, unit)(part.length), ...values);
      }
    }
  }
}

/** Deletes some minutes that are too old. */
export async function sweepServiceMinutes(database: Database, nowMs: number): Promise<void> {
  const oldest = Math.floor((nowMs - minutesKeptMs) / minuteMs);
  const sql = `delete from service_minutes where minute < ? and minute <= (select min(minute) + 60 from service_minutes)`;
  await database.run(sql, oldest);
}

function keyOf({ unit, refs, endCode }: ServiceSum): readonly number[] {
  return [unit, refs.upstream, refs.upstreamModel, refs.interface, endCode];
}

async function addHistograms(database: Database, { table, unit }: { table: string; unit: string }, sum: ServiceSum): Promise<void> {
  const sql = `select first_byte, duration from ${table}
    where ${unit} = ? and upstream_ref = ? and upstream_model_ref = ? and interface_ref = ? and end_code = ?`;
  const row = await database.first(sql, ...keyOf(sum));
  if (row === undefined) return;
  addEncoded(sum.firstByte, readBytes(row, 'first_byte'));
  addEncoded(sum.duration, readBytes(row, 'duration'));
}

type Sums = Map<string, ServiceSum>;

function sumFor(sums: Sums, unit: number, refs: ServiceRefs, endCode: number): ServiceSum {
  const key = `${unit}/${refs.upstream}/${refs.upstreamModel}/${refs.interface}/${endCode}`;
  const found = sums.get(key);
  if (found !== undefined) return found;
  const sum = {
    unit,
    refs,
    endCode,
    counts: serviceCounts.map(() => 0),
    amount: 0,
    firstByte: emptyHistogram(),
    duration: emptyHistogram(),
  };
  sums.set(key, sum);
  return sum;
}

/** Adds up the sums of minutes in longer units. */
function joinSums(minutes: Sums, unitOf: (minute: number) => number): readonly ServiceSum[] {
  const sums: Sums = new Map();
  for (const { unit, refs, endCode, counts, amount, firstByte, duration } of minutes.values()) {
    const sum = sumFor(sums, unitOf(unit), refs, endCode);
    for (const [at, count] of counts.entries()) sum.counts[at] = addExact(sum.counts[at] ?? 0, count);
    sum.amount = addExact(sum.amount, amount);
    addHistogram(sum.firstByte, firstByte);
    addHistogram(sum.duration, duration);
  }
  return [...sums.values()];
}

function addCall(sum: ServiceSum, call: FollowedCall | undefined): void {
  if (call === undefined) return count(sum, 1, 1);
  const { fact, billed } = call;
  if (fact.parentId === undefined) count(sum, 0, 1);
  if (fact.isRequest) count(sum, 1, 1);
  if (billed === 1 || billed === 2) {
    if (billed === 1) count(sum, 2, 1);
    count(sum, 3, call.promptTokens);
    count(sum, 4, call.completionTokens);
    count(sum, 5, call.cacheTokens);
    count(sum, 6, call.cacheCreationTokens);
    count(sum, 7, call.useTimeMs);
    sum.amount = addExact(sum.amount, call.amountNanoUsd);
  }
  if (fact.parentId !== undefined || fact.endCode === endCodes.failed || fact.endCode === endCodes.lost) return;
  if (fact.firstByteMs !== undefined) addDuration(sum.firstByte, fact.firstByteMs);
  addDuration(sum.duration, Number(call.useTimeMs));
}

/** @param at the place in serviceCounts */
function count({ counts }: ServiceSum, at: number, value: Integer): void {
  counts[at] = addExact(counts[at] ?? 0, value);
}

const upserts = new Map<string, (rows: number) => string>();

function upsertOf(table: string, unit: string): (rows: number) => string {
  return upserts.getOrInsertComputed(table, () =>
    perRows((rows) => {
      const key = `${unit}, upstream_ref, upstream_model_ref, interface_ref, end_code`;
      const columns = [...serviceCounts, 'amount_kusd', 'amount_nano', 'first_byte', 'duration'];
      const row = `(?, ?, ?, ?, ?, ${columns.map(() => '?').join(', ')})`;
      const amount = `(${table}.amount_nano + excluded.amount_nano)`;
      return `insert into ${table} (${key}, ${columns.join(', ')}) ${valuesOf(row, rows)}
        on conflict (${key}) do update set ${serviceCounts.map((column) => `${column} = ${table}.${column} + excluded.${column}`).join(', ')},
          amount_kusd = ${table}.amount_kusd + excluded.amount_kusd + ${amount} / 1000000000000, amount_nano = ${amount} % 1000000000000,
          first_byte = excluded.first_byte, duration = excluded.duration`;
    }),
  );
}
