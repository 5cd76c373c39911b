import { addUsage } from '../../../billing/usage/usage-question.ts';
import { endOfCode, endCodes, keyLabel, type NameKind, splitKeyLabel } from '../../../billing/calls/call-fact.ts';
import { addEncoded, addToClass, type DurationHistogram, emptyHistogram } from '../../../billing/calls/duration-histogram.ts';
import type { CallEnd } from '../../../billing/ledger/call-entry.ts';
import {
  type GroupNames,
  tagOf,
  type UsageDimension,
  type UsageRank,
  type UsageRead,
  type UsageRows,
  type UsageSums,
} from '../../../billing/usage/usage-store.ts';
import { toStorableText } from '../../storable-text.ts';
import type { Database } from '../database.ts';
import { readFollowProgress } from '../facts/follow-calls.ts';
import type { NameReader } from '../facts/name-reader.ts';
import { readBigInt, readBytes, readInteger, readText } from '../read-column.ts';
import type { SqlRow } from '../sql-values.ts';
import { nanoUsdPerKusd, readWide, sumWide } from '../wide-amount.ts';
import { type GroupKey, joinKey, splitKey } from './add-packs.ts';
import { findSource, isAnyOf, type UsageReaders, type UsageSource } from './usage-source.ts';

type Sums = { -readonly [Member in keyof UsageSums]: UsageSums[Member] };
type SumsOfGroups = Map<string, Map<number, Sums>>;

/**
 * Sums of groups by bucket that are read at once and chosen from here: one pass over the rows, where totals, ranks and
 * series would need one each. A histogram is a hundred times the memory of a sum.
 */
const sumsAtOnce = { plain: 40_000, withDurations: 2000 };

/**
 * Answers a question about usage from one snapshot. See UsageStore.
 * @param atOnce the most sums that are chosen from here
 */
export async function readUsage(database: Database, readers: UsageReaders, read: UsageRead, atOnce = sumsAtOnce): Promise<UsageRows> {
  return await database.snapshot(async (snapshot) => {
    const progress = read.family === 'usage' ? {} : { progress: await readFollowProgress(snapshot) };
    const source = await findSource(snapshot, readers, read);
    if (source === undefined)
      return { totals: new Map(), series: givenGroups(read).map((group) => ({ names: group, sums: new Map() })), ...progress };
    if ('readyFromMs' in source) return { totals: new Map(), series: [], ...source };
    const columns = read.groupBy.flatMap((dimension) => source.columns[dimension] ?? []);
    const ranksPacked = read.groupBy.length > 0 && !('names' in read.groups);
    const packed = await source.packed?.survey(columns, ranksPacked ? read.groups.rankBy : undefined);
    const most = read.withDurations ? atOnce.withDurations : atOnce.plain;
    const all = columns.length === 0 ? undefined : await sumGroups(snapshot, source, columns, { most }, read);
    const totals: SumsOfGroups = all === undefined ? ((await sumGroups(snapshot, source, [], 'all', read)) ?? new Map()) : addUpAll(all);
    addAll(totals, '', packed?.totals);
    if (read.groupBy.length === 0) return { totals: totals.get('') ?? new Map(), series: [], ...progress };
    const groups = await chooseGroups(snapshot, readers.names, source, columns, read, { packed: packed?.ranks, all });
    const keys = groups.map(({ key }) => key).filter((key) => key !== undefined);
    const sums: SumsOfGroups = all ?? (await sumGroups(snapshot, source, columns, keys, read)) ?? new Map();
    if (source.packed !== undefined) {
      for (const [key, more] of await source.packed.sum(columns, keys)) addAll(sums, key, more);
    }
    const series = groups.map(({ names: group, key }) => ({
      names: group,
      sums: sums.get(key === undefined ? 'none' : joinKey(key)) ?? new Map(),
    }));
    return { totals: totals.get('') ?? new Map(), series, ...progress };
  });
}

/** The sums of all groups together. */
function addUpAll(groups: SumsOfGroups): SumsOfGroups {
  const totals: SumsOfGroups = new Map();
  for (const sums of groups.values()) addAll(totals, '', sums);
  return totals;
}

/** Adds sums from packs to those from rows. */
function addAll(groups: SumsOfGroups, key: string, more: ReadonlyMap<number, UsageSums> | undefined): void {
  if (more === undefined || more.size === 0) return;
  const sums = groups.getOrInsertComputed(key, () => new Map<number, Sums>());
  for (const [position, added] of more) {
    const before = sums.get(position);
    sums.set(position, before === undefined ? { ...added } : addUsage(before, added));
  }
}

const givenGroups = ({ groups }: UsageRead): readonly GroupNames[] => ('names' in groups ? groups.names : []);

/** A group with its key in the database; without one if no call has its names. */
type Group = { readonly names: GroupNames; readonly key: GroupKey | undefined };

/** Thousands of USD and the rest, or one sum. */
const rankColumns: Readonly<Record<UsageRank, readonly string[]>> = {
  amount: ['sum(amount_kusd)', 'sum(amount_nano)'],
  calls: ['sum(call_count)'],
  tokensIn: ['sum(prompt_tokens)'],
  tokensOut: ['sum(completion_tokens)'],
  useTime: ['sum(use_time_ms)'],
  failed: [`sum(case when end_code = ${endCodes.failed} then ended else 0 end)`],
};

async function chooseGroups(
  database: Database,
  names: NameReader,
  source: UsageSource,
  columns: readonly string[],
  read: UsageRead,
  known: KnownSums,
): Promise<readonly Group[]> {
  if ('names' in read.groups) {
    const found: Group[] = [];
    for (const group of read.groups.names) found.push({ names: group, key: await findKey(database, names, source, read.groupBy, group) });
    return found;
  }
  const keys = await rankGroups(database, source, columns, read.groups, known);
  const groups: Group[] = [];
  for (const key of keys)
    groups.push({ names: source.isNumbered ? await readNames(database, names, read.groupBy, key) : key.map(String), key });
  return groups;
}

type Rank = { readonly key: GroupKey; readonly sum: bigint };
/** Sums that were read before groups are ranked: the ranks of those in packs, and the sums of all in the rows. */
type KnownSums = { readonly packed: readonly Rank[] | undefined; readonly all: SumsOfGroups | undefined };

/** The keys of the largest groups, in order. */
async function rankGroups(
  database: Database,
  source: UsageSource,
  columns: readonly string[],
  { limit, rankBy }: { readonly limit: number; readonly rankBy: UsageRank },
  { packed, all }: KnownSums,
): Promise<readonly GroupKey[]> {
  if (all === undefined && packed === undefined) return await rankRows(database, source, columns, { limit, rankBy });
  // A group may be small in the rows and large in the packs: all of them count.
  const sums = new Map(packed?.map((rank) => [joinKey(rank.key), rank]));
  const found = all === undefined ? await rankAllRows(database, source, columns, rankBy) : rankSums(all, source, rankBy);
  for (const { key, sum } of found) {
    const before = sums.get(joinKey(key));
    sums.set(joinKey(key), { key, sum: sum + (before?.sum ?? 0n) });
  }
  return [...sums.values()]
    .toSorted(compareRanks)
    .slice(0, limit)
    .map(({ key }) => key);
}

const keyOf = (row: SqlRow, columns: readonly string[], { isNumbered }: UsageSource): GroupKey =>
  columns.map((column) => (isNumbered ? readInteger(row, column) : readText(row, column)));

function selectRanks({ rows }: UsageSource, columns: readonly string[], rankBy: UsageRank): string {
  return `select ${columns.join(', ')}, ${rankColumns[rankBy].map((sum, index) => `${sum} as rank_${index}`).join(', ')}
    from (${rows}) as source group by ${columns.join(', ')}`;
}

/** The largest groups of the rows, chosen by the database. */
async function rankRows(
  database: Database,
  source: UsageSource,
  columns: readonly string[],
  { limit, rankBy }: { readonly limit: number; readonly rankBy: UsageRank },
): Promise<readonly GroupKey[]> {
  const [first, rest] = rankColumns[rankBy];
  const orders = rest === undefined ? [first] : [`${first} + ${rest} / ${nanoUsdPerKusd}`, `${rest} % ${nanoUsdPerKusd}`];
  const order = [...orders.map((sum) => `${sum} desc`), ...columns].join(', ');
  const sql = `${selectRanks(source, columns, rankBy)} order by ${order} limit ?`;
  return (await database.all(sql, ...source.parameters, limit)).map((row) => keyOf(row, columns, source));
}

/** The ranks of all groups of the rows. */
async function rankAllRows(
  database: Database,
  source: UsageSource,
  columns: readonly string[],
  rankBy: UsageRank,
): Promise<readonly Rank[]> {
  if (source.rows === undefined) return [];
  const rows = await database.all(selectRanks(source, columns, rankBy), ...source.parameters);
  return rows.map((row) => ({
    key: keyOf(row, columns, source),
    sum: rankColumns[rankBy].reduce((higher, _, index) => higher * nanoUsdPerKusd + readBigInt(row, `rank_${index}`), 0n),
  }));
}

/** The ranks of groups whose sums are known. */
function rankSums(all: SumsOfGroups, { isNumbered }: UsageSource, rankBy: UsageRank): readonly Rank[] {
  const valueOf = (sums: UsageSums): bigint =>
    rankBy === 'amount' ? sums.amountNanoUsd : BigInt(sums[rankBy === 'useTime' ? 'useTimeMs' : rankBy] ?? 0);
  return Array.from(all, ([joined, buckets]) => ({
    key: isNumbered ? splitKey(joined).map(Number) : splitKey(joined),
    sum: buckets.values().reduce((sum, sums) => sum + valueOf(sums), 0n),
  }));
}

/** The larger sum first, then by names, or by their numbers, as the engine orders them. */
function compareRanks(one: Rank, other: Rank): number {
  if (one.sum !== other.sum) return one.sum > other.sum ? -1 : 1;
  for (const [place, name] of one.key.entries()) {
    const against = other.key[place] ?? '';
    if (name !== against) return name < against ? -1 : 1;
  }
  return 0;
}

/** The names of numbers. */
async function readNames(database: Database, names: NameReader, groupBy: readonly UsageDimension[], key: GroupKey): Promise<GroupNames> {
  const found: string[] = [];
  for (const [index, dimension] of groupBy.entries()) {
    const number = Number(key[index]);
    if (dimension === 'end') {
      found.push(endOfCode(number));
      continue;
    }
    const name = await names.nameOf(database, number);
    if (dimension === 'key') found.push(...splitKeyLabel(name?.label ?? ''));
    else if (dimension === 'team') found.push(name?.label ?? '');
    else found.push(name?.value ?? '');
  }
  return found;
}

/** The values of a group's columns. A key's name may have several numbers; they are groups of their own. */
async function findKey(
  database: Database,
  names: NameReader,
  source: UsageSource,
  groupBy: readonly UsageDimension[],
  group: GroupNames,
): Promise<GroupKey | undefined> {
  if (!source.isNumbered) return group.map(toStorableText);
  const key: number[] = [];
  const texts = [...group];
  for (const dimension of groupBy) {
    const text = texts.shift() ?? '';
    if (dimension === 'end') {
      key.push(endCodes[text as CallEnd]);
      continue;
    }
    const tag = tagOf(dimension);
    const label = dimension === 'key' ? keyLabel(text, texts.shift() ?? '') : text;
    const number = label === '' ? 0 : await findNumber(database, names, tag ?? dimension, { tag, label });
    if (number === undefined) return undefined;
    key.push(number);
  }
  return key;
}

async function findNumber(
  database: Database,
  names: NameReader,
  dimension: string,
  { tag, label }: { readonly tag: string | undefined; readonly label: string },
): Promise<number | undefined> {
  if (tag !== undefined) return await names.tagNumber(database, tag, label);
  const isLabelled = dimension === 'key' || dimension === 'team';
  const [number] = await names.numbersOf(database, dimension as NameKind, isLabelled ? 'label' : 'value', label);
  return number;
}

const counts = ['call_count', 'prompt_tokens', 'completion_tokens', 'cache_tokens', 'cache_creation_tokens', 'use_time_ms'] as const;

/**
 * The sums of groups by bucket, by the joined values of their columns; of all calls together without columns.
 * @param keys of some groups; or all groups, if they have at most so many sums
 * @returns undefined if there are more
 */
async function sumGroups(
  database: Database,
  source: UsageSource,
  columns: readonly string[],
  keys: readonly GroupKey[] | 'all' | { readonly most: number },
  read: UsageRead,
): Promise<SumsOfGroups | undefined> {
  const groups: SumsOfGroups = new Map();
  const [given, most] = keys === 'all' ? [] : 'most' in keys ? [undefined, keys.most] : [keys];
  if (given?.length === 0 || source.rows === undefined) return groups;
  const positions = new Map(read.buckets.map(({ startSeconds }, position) => [startSeconds, position]));
  const chosen = given === undefined ? { sql: '1 = 1', parameters: [] } : isAnyOf(columns, given);
  const select = ['bucket', ...columns].join(', ');
  const ended = source.isNumbered
    ? `, sum(ended) as ended, sum(case when end_code = ${endCodes.failed} then ended else 0 end) as failed,
        sum(case when end_code = ${endCodes.cut} then ended else 0 end) as cut`
    : '';
  const sql = `select ${select}, ${counts.map((column) => `sum(${column}) as ${column}`).join(', ')}, ${sumWide('amount', 'amount')} ${ended}
    from (${source.rows}) as source where ${chosen.sql} group by ${select} ${most === undefined ? '' : 'limit ?'}`;
  const sumsOf = (row: SqlRow): Map<number, Sums> => {
    return groups.getOrInsertComputed(joinKey(keyOf(row, columns, source)), () => new Map<number, Sums>());
  };
  const positionOf = (row: SqlRow): number => positions.get(readInteger(row, 'bucket')) ?? -1;
  const parameters = [...source.parameters, ...chosen.parameters];
  const found = await database.all(sql, ...parameters, ...(most === undefined ? [] : [most + 1]));
  if (most !== undefined && found.length > most) return undefined;
  for (const row of found) sumsOf(row).set(positionOf(row), readSums(row, source.isNumbered));
  for (const { rows, parameters: ofRows, isEncoded } of source.durations) {
    const classes = ['first_byte', 'duration'];
    const text = isEncoded
      ? `select ${select}, first_byte, duration from (${rows}) as source where ${chosen.sql}`
      : `select ${select}, first_byte, duration, count(*) as calls from (${rows}) as source where ${chosen.sql} group by ${[select, ...classes].join(', ')}`;
    for (const row of await database.all(text, ...ofRows, ...chosen.parameters))
      addDurations(sumsOf(row).get(positionOf(row)), row, isEncoded);
  }
  return groups;
}

function readSums(row: SqlRow, hasEnds: boolean): Sums {
  return {
    amountNanoUsd: readWide(row, 'amount'),
    calls: readInteger(row, 'call_count'),
    tokensIn: readInteger(row, 'prompt_tokens'),
    tokensOut: readInteger(row, 'completion_tokens'),
    cacheRead: readInteger(row, 'cache_tokens'),
    cacheWrite: readInteger(row, 'cache_creation_tokens'),
    useTimeMs: readInteger(row, 'use_time_ms'),
    ...(hasEnds ? { ended: readInteger(row, 'ended'), failed: readInteger(row, 'failed'), cut: readInteger(row, 'cut') } : {}),
  };
}

function addDurations(sums: Sums | undefined, row: SqlRow, isEncoded: boolean): void {
  if (sums === undefined) return;
  const add = (histogram: DurationHistogram, column: string): DurationHistogram => {
    if (isEncoded) addEncoded(histogram, readBytes(row, column));
    else if (row[column] !== null) addToClass(histogram, readInteger(row, column), readInteger(row, 'calls'));
    return histogram;
  };
  sums.firstByte = add(sums.firstByte ?? emptyHistogram(), 'first_byte');
  sums.duration = add(sums.duration ?? emptyHistogram(), 'duration');
}
