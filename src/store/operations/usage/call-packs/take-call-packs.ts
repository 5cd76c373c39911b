import type { UsageRead } from '../../../../billing/usage/usage-store.ts';
import type { Database } from '../../database.ts';
import { readFollowState } from '../../facts/follow-calls.ts';
import type { NameReader } from '../../facts/name-reader.ts';
import { readInteger } from '../../read-column.ts';
import type { SqlRow } from '../../sql-values.ts';
import { type KeptPacks, packsAtOnce, type PackSource } from '../kept-packs.ts';
import { callForm } from '../pack.ts';
import { addUp, type PackedUsage } from '../packed-usage.ts';
import { coverSpans, type PackedSpan, type Span } from './plan-packs.ts';
import { selectGroups } from './select-groups.ts';

const hourMs = 3_600_000;
const minuteMs = 60_000;
/** Single calls are added up for this much time at most: 31 days, with a change of clocks. */
const singleMaxMs = (31 * 24 + 1) * hourMs;
/** More gaps than this are searched for hours together. */
const gapsApart = 8;

const findNumbers = `select number, sums from call_packs where number in (${Array.from({ length: packsAtOnce }, () => '?').join(', ')}) and number > 0`;

/** Where packs of hours and days of calls are read. */
export const callPacks: PackSource = {
  form: callForm,
  load: async (database, wanted) => {
    const numbers = Array.from({ length: packsAtOnce }, (_, at) => wanted[Math.min(at, wanted.length - 1)]?.number ?? 0);
    return await database.all(findNumbers, ...numbers);
  },
};

/** What a question reads from packs and what from single calls; or from when on its sums have been added up. */
export type TakenCallPacks =
  | { readonly gaps: readonly Span[]; readonly packed: PackedUsage | undefined }
  | { readonly readyFromMs: number };

/** Takes what packs have out of the spans of a question. */
export async function takeCallPacks(
  database: Database,
  { names, kept }: { readonly names: NameReader; readonly kept: KeptPacks },
  read: UsageRead,
  spans: readonly Span[],
): Promise<TakenCallPacks> {
  const { needsNames, groupingOf } = await selectGroups(database, names, read);
  const forms = needsNames ? 0 : 1;
  const days = await listPacks(database, 1, bounding(spans), forms);
  const byDay = coverSpans(spans, days.packs);
  const hours: PackedSpan[] = [];
  let staleMs = 0;
  for (const span of byDay.gaps.length > gapsApart ? [bounding(byDay.gaps)] : byDay.gaps) {
    const found = await listPacks(database, 0, span, forms);
    hours.push(...found.packs);
    staleMs += found.stale * hourMs;
  }
  const { taken, gaps } = coverSpans(byDay.gaps, hours);
  const readyFromMs = await findReadyFrom(database, gaps, staleMs);
  if (readyFromMs !== undefined) return { readyFromMs };
  const all = [...byDay.taken, ...taken];
  if (all.length === 0) return { gaps, packed: undefined };
  const reading = kept.begin(database);
  const packs = all.map(({ fromMs, number, position }) => ({ from: fromMs / minuteMs, number, position }));
  return { gaps, packed: addUp(reading, packs, (columns) => groupingOf(reading, columns), read.buckets.length) };
}

/** The shortest span that contains all. */
function bounding(spans: readonly Span[]): Pick<Span, 'fromMs' | 'untilMs'> {
  return { fromMs: spans[0]?.fromMs ?? 0, untilMs: spans.at(-1)?.untilMs ?? 0 };
}

type Listed = { readonly packs: readonly PackedSpan[]; readonly stale: number };

/**
 * Hours without a usable pack count as stale.
 * @param kind 0: hours, 1: days
 * @param formMax the last form that will do
 */
async function listPacks(
  database: Database,
  kind: 0 | 1,
  { fromMs, untilMs }: Pick<Span, 'fromMs' | 'untilMs'>,
  formMax: number,
): Promise<Listed> {
  const sql = 'select from_minute, until_minute, number, form from call_packs where kind = ? and from_minute >= ? and from_minute < ?';
  const rows = await database.all(sql, kind, Math.ceil(fromMs / minuteMs), Math.ceil(untilMs / minuteMs));
  const isUsable = (row: SqlRow): boolean => readInteger(row, 'number') > 0 && readInteger(row, 'form') <= formMax;
  const packs = rows.filter(isUsable).map((row) => ({
    fromMs: readInteger(row, 'from_minute') * minuteMs,
    untilMs: readInteger(row, 'until_minute') * minuteMs,
    number: readInteger(row, 'number'),
  }));
  return { packs, stale: rows.length - packs.length };
}

/**
 * Undefined if single calls can fill the gaps. Otherwise the time from which on sums have been added up.
 * @param staleMs the time of hours in the gaps that must be added up again
 */
async function findReadyFrom(database: Database, gaps: readonly Span[], staleMs: number): Promise<number | undefined> {
  if (gaps.reduce((sum, { fromMs, untilMs }) => sum + untilMs - fromMs, 0) <= singleMaxMs) return undefined;
  const { packedFromMs, packedUntilMs } = await readFollowState(database);
  // Each bound is one look-up in the index; SQLite reads all of it for both in one query.
  const first = await database.first('select (select min(at_ms) from call_facts) as first, (select max(at_ms) from call_facts) as last');
  if (first === undefined || first['first'] === null) return undefined;
  const [oldestMs, newestMs] = [readInteger(first, 'first'), readInteger(first, 'last')];
  const within = ({ fromMs, untilMs }: Span, leastMs: number, mostMs: number): number =>
    Math.max(0, Math.min(untilMs, mostMs) - Math.max(fromMs, leastMs));
  const cut = ({ fromMs, untilMs }: Span): number => {
    const [from, until] = [Math.ceil(fromMs / hourMs) * hourMs, Math.floor(untilMs / hourMs) * hourMs];
    return from >= until ? untilMs - fromMs : from - fromMs + untilMs - until;
  };
  // Hours without a pack between these bounds have no calls, unless they are cut or must be added up again.
  const singleMs = gaps.reduce(
    (sum, gap) => sum + cut(gap) + within(gap, oldestMs, Math.min(packedFromMs, newestMs + 1)) + within(gap, packedUntilMs, newestMs + 1),
    staleMs,
  );
  return singleMs <= singleMaxMs ? undefined : packedFromMs;
}
