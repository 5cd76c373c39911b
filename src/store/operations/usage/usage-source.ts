import { endCodes } from '../../../billing/calls/call-fact.ts';
import { classBoundsMs } from '../../../billing/calls/duration-histogram.ts';
import { tagOf, type UsageDimension, type UsageFilter, type UsageRead } from '../../../billing/usage/usage-store.ts';
import { toStorableText } from '../../storable-text.ts';
import { minutesKeptMs } from '../facts/service-sums.ts';
import { type CallStream, type Conditions, exceptAll, selectSummed } from '../facts/call-conditions.ts';
import { callsInSpans, isInSlots, slotOfColumn } from '../facts/call-spans.ts';
import { readFollowState } from '../facts/follow-calls.ts';
import type { NameReader } from '../facts/name-reader.ts';
import type { Database } from '../database.ts';
import { dayBounds } from '../day-zone.ts';
import { splitBuckets } from '../split-buckets.ts';
import type { SqlValue } from '../sql-values.ts';
import { sumsOf } from '../statistics-parts.ts';
import { planStatistics } from '../statistics-plan.ts';
import { takeCallPacks } from './call-packs/take-call-packs.ts';
import type { KeptPacks } from './kept-packs.ts';
import { type PackedUsage, takePackedDays } from './packed-usage.ts';

/** A query for rows with a bucket, names and sums, which are filtered, and the columns of each dimension. */
export type UsageSource = {
  /** Undefined if all sums are in packs. */
  readonly rows: string | undefined;
  readonly parameters: readonly SqlValue[];
  readonly columns: Readonly<Partial<Record<UsageDimension, readonly string[]>>>;
  /** Whether names are numbers of fact_names, and whether calls that failed are counted. */
  readonly isNumbered: boolean;
  readonly durations: readonly Durations[];
  /** Days that the rows do not have. */
  readonly packed?: PackedUsage | undefined;
};

/**
 * Rows with the durations of calls in `first_byte` and `duration`: encoded histograms, or the class of one call each.
 */
type Durations = { readonly rows: string; readonly parameters: readonly SqlValue[]; readonly isEncoded: boolean };

/** Names and packs that stay in memory between questions. */
export type UsageReaders = { readonly names: NameReader; readonly packs: { readonly usage: KeptPacks; readonly calls: KeptPacks } };

/** The rows that a question adds up. Undefined if there are none. */
export async function findSource(
  database: Database,
  readers: UsageReaders,
  read: UsageRead,
): Promise<UsageSource | { readonly readyFromMs: number } | undefined> {
  return read.family === 'usage' ? await findUsage(database, readers.packs.usage, read) : await findService(database, readers, read);
}

/** A list of values as one condition. They are padded, so that lists of similar length share a statement. */
export function isAnyOf(columns: readonly string[], tuples: readonly (readonly SqlValue[])[]): Conditions {
  const size = [1, 4, 16, 64, 256].find((length) => length >= tuples.length) ?? tuples.length;
  const padded = Array.from({ length: size }, (_, index) => tuples[Math.min(index, tuples.length - 1)] ?? []);
  // A server would take a parameter in a list of values for a text.
  const tuple = `(${columns.map((_, index) => (typeof tuples[0]?.[index] === 'number' ? 'cast(? as bigint)' : '?')).join(', ')})`;
  const list = columns.length === 1 ? padded.map(() => '?').join(', ') : `values ${padded.map(() => tuple).join(', ')}`;
  return { sql: `(${columns.join(', ')}) in (${list})`, parameters: padded.flat() };
}

async function findUsage(database: Database, packs: KeptPacks, read: UsageRead): Promise<UsageSource | undefined> {
  const { filter, excluded, scope } = read;
  const users = scope === 'all' ? filter.users : (filter.users ?? scope).filter((name) => scope.includes(name));
  const keys = namesOfKeys(filter);
  if (users?.length === 0 || keys?.length === 0 || filter.models?.length === 0) return undefined;
  const [onlyUser] = users?.length === 1 ? users : [];
  const query = {
    buckets: read.buckets,
    startSeconds: read.startSeconds,
    endSeconds: read.endSeconds,
    ...(onlyUser === undefined ? {} : { userName: onlyUser }),
    rowsMax: 0,
  };
  const whole = await planStatistics(database, query);
  const allowed = { users: users?.map(toStorableText), keys, models: filter.models?.map(toStorableText) };
  // The rows of one user are few, and are found without the others. Packs have no rows that can be taken away.
  const isPacked = onlyUser === undefined && excluded === undefined;
  const taken = isPacked ? await takePackedDays(database, packs, whole, allowed) : undefined;
  const sums = sumsOf(database, taken?.plan ?? whole, { from: 0, until: read.buckets.length }, query, {});
  if (sums === undefined && taken === undefined) return undefined;
  const conditions: Conditions[] = [];
  if (allowed.users !== undefined && onlyUser === undefined) conditions.push(isAnyOf(['user_name'], allowed.users.map(asTuple)));
  if (keys !== undefined) conditions.push(isAnyOf(['user_name', 'token_name'], keys));
  if (allowed.models !== undefined) conditions.push(isAnyOf(['model_name'], allowed.models.map(asTuple)));
  conditions.push(...exclude(excluded));
  const where = conditions.length === 0 ? '' : `where ${conditions.map(({ sql }) => sql).join(' and ')}`;
  return {
    rows:
      sums === undefined
        ? undefined
        : `select bucket, user_name, token_name, model_name, call_count, prompt_tokens, completion_tokens, cache_tokens, cache_creation_tokens,
        use_time_ms, amount_nano_usd / 1000000000000 as amount_kusd, amount_nano_usd % 1000000000000 as amount_nano
      from (${sums.parts}) as parts ${where}`,
    parameters: [...(sums?.parameters ?? []), ...conditions.flatMap(({ parameters }) => parameters)],
    columns: { user: ['user_name'], key: ['user_name', 'token_name'], model: ['model_name'] },
    isNumbered: false,
    durations: [],
    packed: taken?.packed,
  };
}

/** Keys by the names of their users and their own; keys by id are not in the sums of usage. */
function namesOfKeys({ keys }: UsageFilter): readonly string[][] | undefined {
  return keys?.flatMap((key) => ('keyId' in key ? [] : [[key.userName, key.keyName].map(toStorableText)]));
}

/** One condition for each filter that takes rows away. */
function exclude(excluded: readonly UsageFilter[] = []): readonly Conditions[] {
  return excluded.flatMap((filter) => {
    const { users, models } = filter;
    const keys = namesOfKeys(filter) ?? [];
    const conditions: Conditions[] = [];
    if (users !== undefined) conditions.push(isAnyOf(['user_name'], users.map(toStorableText).map(asTuple)));
    if (keys.length > 0) conditions.push(isAnyOf(['user_name', 'token_name'], keys));
    if (models !== undefined) conditions.push(isAnyOf(['model_name'], models.map(toStorableText).map(asTuple)));
    return conditions.length === 0 ? [] : [exceptAll(conditions)];
  });
}

const asTuple = (name: string): readonly [string] => [name];

const serviceTables = [
  { source: 'days', table: 'service_days', unit: 'day' },
  { source: 'hours', table: 'service_hours', unit: 'hour' },
  { source: 'minutes', table: 'service_minutes', unit: 'minute' },
] as const;
const sumColumns =
  'call_count, prompt_tokens, completion_tokens, cache_tokens, cache_creation_tokens, use_time_ms, amount_kusd, amount_nano';
const serviceNames = 'upstream_ref, upstream_model_ref, interface_ref, end_code';
const minuteMs = 60_000;

type Segment = readonly [bucket: number, from: number, until: number];

async function findService(
  database: Database,
  readers: UsageReaders,
  read: UsageRead,
): Promise<UsageSource | { readonly readyFromMs: number } | undefined> {
  const { names } = readers;
  const conditions = await selectSummed(database, names, read);
  if (conditions === undefined) return undefined;
  const taken = read.family === 'names' ? await takePacked(database, readers, read) : undefined;
  if (taken !== undefined && 'readyFromMs' in taken) return taken;
  const segments = taken?.segments ?? (await splitService(database, read));
  const parts: { readonly rows: string; readonly parameters: readonly SqlValue[] }[] = [];
  const durations: Durations[] = [];
  const add = (
    units: readonly Segment[],
    from: Conditions,
    columns: readonly [sums: string, durations: string],
    isEncoded: boolean,
  ): void => {
    if (units.length === 0) return;
    const parameters = [JSON.stringify(units), ...from.parameters, ...conditions.parameters];
    const where = `from ${database.fragments.segments} as segments cross join ${from.sql} and ${conditions.sql}`;
    parts.push({ rows: `select segments.bucket as bucket, ${columns[0]} ${where}`, parameters });
    if (read.withDurations) durations.push({ rows: `select segments.bucket as bucket, ${columns[1]} ${where}`, parameters, isEncoded });
  };
  for (const { source, table, unit } of serviceTables) {
    const sql = `${table} as source where source.${unit} >= segments.from_unit and source.${unit} < segments.until_unit`;
    const from = { sql, parameters: [] };
    add(segments[source], from, [`${serviceNames}, ended, ${sumColumns}`, `${serviceNames}, first_byte, duration`], true);
  }
  const tags = await findTagColumns(database, names, read);
  add(segments.calls, callsOf(conditions), factColumns(read, tags), false);
  if (parts.length === 0 && taken?.packed === undefined) return undefined;
  return {
    rows: parts.length === 0 ? undefined : parts.map(({ rows }) => rows).join(' union all '),
    parameters: parts.flatMap(({ parameters }) => parameters),
    columns: {
      user: ['user_ref'],
      key: ['key_ref'],
      model: ['model_ref'],
      team: ['team_ref'],
      ...Object.fromEntries(tags.map(({ dimension, column }) => [dimension, [column]])),
      upstream: ['upstream_ref'],
      upstreamModel: ['upstream_model_ref'],
      interface: ['interface_ref'],
      end: ['end_code'],
    },
    isNumbered: true,
    durations,
    packed: taken?.packed,
  };
}

/** A tag by which rows are grouped: the number of its value, or 0. */
type TagColumn = { readonly dimension: UsageDimension; readonly column: string; readonly nameNumber: number };

async function findTagColumns(database: Database, names: NameReader, { groupBy }: UsageRead): Promise<readonly TagColumn[]> {
  const columns: TagColumn[] = [];
  for (const dimension of groupBy) {
    const tag = tagOf(dimension);
    if (tag === undefined) continue;
    columns.push({ dimension, column: `tag_${columns.length}`, nameNumber: (await names.tagNumber(database, tag)) ?? 0 });
  }
  return columns;
}

/** Single calls between the bounds of segments. */
function callsOf({ spans }: CallStream): Conditions {
  if (spans === undefined)
    return { sql: 'call_facts as source where source.at_ms >= segments.from_unit and source.at_ms < segments.until_unit', parameters: [] };
  // The rows of a span are found by their numbers and not by an index of times.
  const bounds = '+source.at_ms >= segments.from_unit and +source.at_ms < segments.until_unit';
  const slots = isInSlots(slotOfColumn('segments.from_unit'), slotOfColumn('segments.until_unit'));
  return { sql: `${callsInSpans('source')} and ${slots} and ${bounds}`, parameters: [spans] };
}

/** Single calls in the form of sums, and of durations. */
function factColumns({ family }: UsageRead, tags: readonly TagColumn[]): readonly [sums: string, durations: string] {
  // The number of a tag's name is one of a hundred, so there are few statements.
  const tagColumns = tags.map(
    ({ column, nameNumber }) => `, case when source.tags_ref = 0 then 0 else coalesce((select value_ref from fact_tags
      where fact_tags.tags_ref = source.tags_ref and fact_tags.name_ref = ${Math.trunc(nameNumber)}), 0) end as ${column}`,
  );
  const names = family !== 'service' ? `user_ref, key_ref, model_ref, team_ref, ${serviceNames}${tagColumns.join('')}` : serviceNames;
  const ifBilled = (value: string): string => `case when billed in (1, 2) then ${value} else 0 end`;
  const counts = ['prompt_tokens', 'completion_tokens', 'cache_tokens', 'cache_creation_tokens', 'use_time_ms'];
  const isTimed = `parent_id is null and end_code not in (${endCodes.failed}, ${endCodes.lost})`;
  return [
    `${names}, case when parent_id is null then 1 else 0 end as ended, case when billed = 1 then 1 else 0 end as call_count,
      ${counts.map((column) => `${ifBilled(column)} as ${column}`).join(', ')},
      ${ifBilled('amount_nano_usd')} / 1000000000000 as amount_kusd, ${ifBilled('amount_nano_usd')} % 1000000000000 as amount_nano`,
    `${names}, case when ${isTimed} then ${classOf('first_byte_ms')} end as first_byte, case when ${isTimed} then ${classOf('use_time_ms')} end as duration`,
  ];
}

/** The class of a duration in a histogram. */
function classOf(column: string): string {
  const cases = classBoundsMs.map((bound, index) => `when ${column} < ${Math.ceil(bound)} then ${index}`);
  return `case when ${column} is null then null ${cases.join(' ')} else ${classBoundsMs.length} end`;
}

type ServiceSegments = Readonly<Record<'days' | 'hours' | 'minutes' | 'calls', readonly Segment[]>>;

/** Cut minutes, and minutes that are not kept any more, are added up from single calls. */
async function splitService(database: Database, read: UsageRead): Promise<ServiceSegments> {
  if (read.family === 'facts') return { days: [], hours: [], minutes: [], calls: wholeBuckets(read) };
  const { dayZone, dayFrom } = await readFollowState(database);
  const bounds = dayBounds(read.startSeconds, read.endSeconds, dayZone).filter((bound) => bound >= dayFrom * 60);
  const split = splitBuckets({ ...read, dayBounds: bounds });
  const isKept = ([, from]: Segment): boolean => from >= (read.nowMs - minutesKeptMs) / minuteMs + keptMargin;
  const old = split.minutes.filter((part) => !isKept(part));
  return {
    ...split,
    minutes: split.minutes.filter(isKept),
    calls: [...split.calls, ...old.map(([bucket, from, until]): Segment => [bucket, from * minuteMs, until * minuteMs])],
  };
}

type TakenCalls = { readonly segments: ServiceSegments; readonly packed: PackedUsage | undefined } | { readonly readyFromMs: number };

/** Whole hours and days come from packs, the rest from single calls. */
async function takePacked(database: Database, { names, packs }: UsageReaders, read: UsageRead): Promise<TakenCalls> {
  const spans = wholeBuckets(read).map(([, fromMs, untilMs], position) => ({ position, fromMs, untilMs }));
  const taken = await takeCallPacks(database, { names, kept: packs.calls }, read, spans);
  if ('readyFromMs' in taken) return taken;
  const calls = taken.gaps.map(({ position, fromMs, untilMs }): Segment => [read.buckets[position]?.startSeconds ?? 0, fromMs, untilMs]);
  return { segments: { days: [], hours: [], minutes: [], calls }, packed: taken.packed };
}

/** The clock of the follower may be earlier or later than ours: an hour in minutes. */
const keptMargin = 60;

function wholeBuckets({ buckets, startSeconds, endSeconds }: UsageRead): readonly Segment[] {
  return buckets.map((bucket) => [
    bucket.startSeconds,
    Math.max(bucket.startSeconds, startSeconds) * 1000,
    Math.min(bucket.endSeconds, endSeconds) * 1000,
  ]);
}
