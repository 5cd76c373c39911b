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
import { type GroupKey, joinKey } from './add-packs.ts';
import { findSource, isAnyOf, type UsageReaders, type UsageSource } from './usage-source.ts';

type Sums = { -readonly [Member in keyof UsageSums]: UsageSums[Member] };

/** Answers a question about usage from one snapshot. See UsageStore. */
export async function readUsage(database: Database, readers: UsageReaders, read: UsageRead): Promise<UsageRows> {
  return await database.snapshot(async (snapshot) => {
    const progress = read.family === 'usage' ? {} : { progress: await readFollowProgress(snapshot) };
    const source = await findSource(snapshot, readers, read);
    if (source === undefined)
      return { totals: new Map(), series: givenGroups(read).map((group) => ({ names: group, sums: new Map() })), ...progress };
    if ('readyFromMs' in source) return { totals: new Map(), series: [], ...source };
    const columns = read.groupBy.flatMap((dimension) => source.columns[dimension] ?? []);
    const ranksPacked = read.groupBy.length > 0 && !('names' in read.groups);
    const packed = await source.packed?.survey(columns, ranksPacked ? read.groups.rankBy : undefined);
    const totals = await sumGroups(snapshot, source, [], undefined, read);
    addAll(totals, '', packed?.totals);
    if (read.groupBy.length === 0) return { totals: totals.get('') ?? new Map(), series: [], ...progress };
    const groups = await chooseGroups(snapshot, readers.names, source, columns, read, packed?.ranks);
    const keys = groups.map(({ key }) => key).filter((key) => key !== undefined);
    const sums = await sumGroups(snapshot, source, columns, keys, read);
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

/** Adds sums from packs to those from rows. */
function addAll(groups: Map<string, Map<number, Sums>>, key: string, more: ReadonlyMap<number, UsageSums> | undefined): void {
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
const rankSums: Readonly<Record<UsageRank, readonly string[]>> = {
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
  packed: PackRanking | undefined,
): Promise<readonly Group[]> {
  if ('names' in read.groups) {
    const found: Group[] = [];
    for (const group of read.groups.names) found.push({ names: group, key: await findKey(database, names, source, read.groupBy, group) });
    return found;
  }
  const keys = await rankGroups(database, source, columns, read.groups, packed);
  const groups: Group[] = [];
  for (const key of keys)
    groups.push({ names: source.isNumbered ? await readNames(database, names, read.groupBy, key) : key.map(String), key });
  return groups;
}

type PackRanking = readonly { readonly key: GroupKey; readonly sum: bigint }[];

/** The keys of the largest groups, in order. */
async function rankGroups(
  database: Database,
  { rows, parameters, isNumbered }: UsageSource,
  columns: readonly string[],
  { limit, rankBy }: { readonly limit: number; readonly rankBy: UsageRank },
  packed: PackRanking | undefined,
): Promise<readonly GroupKey[]> {
  const keyOf = (row: SqlRow): GroupKey => columns.map((column) => (isNumbered ? readInteger(row, column) : readText(row, column)));
  const ranks = rankSums[rankBy];
  const select = `select ${columns.join(', ')}, ${ranks.map((sum, index) => `${sum} as rank_${index}`).join(', ')}
    from (${rows}) as source group by ${columns.join(', ')}`;
  if (packed === undefined) {
    const [first, rest] = ranks;
    const orders = rest === undefined ? [first] : [`${first} + ${rest} / ${nanoUsdPerKusd}`, `${rest} % ${nanoUsdPerKusd}`];
    const order = [...orders.map((sum) => `${sum} desc`), ...columns].join(', ');
    return (await database.all(`${select} order by ${order} limit ?`, ...parameters, limit)).map(keyOf);
  }
  // A group may be small in the rows and large in the packs: all of them count.
  const sums = new Map(packed.map((rank) => [joinKey(rank.key), rank]));
  for (const row of rows === undefined ? [] : await database.all(select, ...parameters)) {
    const key = keyOf(row);
    const sum = ranks.reduce((higher, _, index) => higher * nanoUsdPerKusd + readBigInt(row, `rank_${index}`), 0n);
    const before = sums.get(joinKey(key));
    sums.set(joinKey(key), { key, sum: sum + (before?.sum ?? 0n) });
  }
  return [...sums.values()]
    .toSorted(compareRanks)
    .slice(0, limit)
    .map(({ key }) => key);
}

/** The larger sum first, then by names, as the engine orders them. */
function compareRanks(one: PackRanking[number], other: PackRanking[number]): number {
  if (one.sum !== other.sum) return one.sum > other.sum ? -1 : 1;
  return joinKey(one.key) < joinKey(other.key) ? -1 : 1;
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
 * @param keys undefined for all groups
 */
async function sumGroups(
  database: Database,
  source: UsageSource,
  columns: readonly string[],
  keys: readonly GroupKey[] | undefined,
  read: UsageRead,
): Promise<Map<string, Map<number, Sums>>> {
  const groups = new Map<string, Map<number, Sums>>();
  if (keys?.length === 0 || source.rows === undefined) return groups;
  const positions = new Map(read.buckets.map(({ startSeconds }, position) => [startSeconds, position]));
  const chosen = keys === undefined ? { sql: '1 = 1', parameters: [] } : isAnyOf(columns, keys);
  const select = ['bucket', ...columns].join(', ');
  const ended = source.isNumbered
    ? `, sum(ended) as ended, sum(case when end_code = ${endCodes.failed} then ended else 0 end) as failed,
        sum(case when end_code = ${endCodes.cut} then ended else 0 end) as cut`
    : '';
  const sql = `select ${select}, ${counts.map((column) => `sum(${column}) as ${column}`).join(', ')}, ${sumWide('amount', 'amount')} ${ended}
    from (${source.rows}) as source where ${chosen.sql} group by ${select}`;
  const sumsOf = (row: SqlRow): Map<number, Sums> => {
    const key = columns.map((column) => (source.isNumbered ? readInteger(row, column) : readText(row, column))).join('\0');
    return groups.getOrInsertComputed(key, () => new Map<number, Sums>());
  };
  const positionOf = (row: SqlRow): number => positions.get(readInteger(row, 'bucket')) ?? -1;
  for (const row of await database.all(sql, ...source.parameters, ...chosen.parameters))
    sumsOf(row).set(positionOf(row), readSums(row, source.isNumbered));
  for (const { rows, parameters, isEncoded } of source.durations) {
    const classes = ['first_byte', 'duration'];
    const text = isEncoded
      ? `select ${select}, first_byte, duration from (${rows}) as source where ${chosen.sql}`
      : `select ${select}, first_byte, duration, count(*) as calls from (${rows}) as source where ${chosen.sql} group by ${[select, ...classes].join(', ')}`;
    for (const row of await database.all(text, ...parameters, ...chosen.parameters))
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
