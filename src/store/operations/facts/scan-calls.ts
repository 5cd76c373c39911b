import { type CallTags, readTags } from '../../../accounts/call-tags.ts';
import { callFlags, type CallFlag, endCodes, type FactName, endOfCode, splitKeyLabel } from '../../../billing/calls/call-fact.ts';
import type {
  CallCount,
  CallCounts,
  CallPlace,
  CallScan,
  CallSummary,
  CountedCalls,
  ScannedCalls,
} from '../../../billing/calls/call-facts-store.ts';
import type { CallEnd } from '../../../billing/ledger/call-entry.ts';
import { StoreError } from '../../store-error.ts';
import type { Database } from '../database.ts';
import { readInteger, readOptionalInteger, readText } from '../read-column.ts';
import type { SqlRow } from '../sql-values.ts';
import { readWide } from '../wide-amount.ts';
import { type CallSelection, type CallStream, type Conditions, selectCallsOf } from './call-conditions.ts';
import { callsInSpans, findEndOfSpans, isInSlots, slotsOf } from './call-spans.ts';
import type { NameReader } from './name-reader.ts';

/** The most calls of a page. */
const pageMax = 500;
/** Rows of the index in the first window of a scan, and in the longest. */
const firstWindow = 1000;
const windowMax = 50_000;
/** About as long as a window takes. */
const windowMsMax = 15;

/** After every call: no time is later. */
const beginning: CallPlace = { atMs: Number.MAX_SAFE_INTEGER, number: Number.MAX_SAFE_INTEGER };

/** Part of the list: from after `from` down to `to` itself, or to the beginning of time. */
type Window = { readonly from: CallPlace; readonly to: CallPlace | undefined; readonly startMs: number; readonly byTime: boolean };

/** Finds the next calls of a list. See CallFactsStore. */
export async function scanCalls(database: Database, names: NameReader, scan: CallScan): Promise<ScannedCalls> {
  const { filter, scope, limit } = scan;
  if (!Number.isInteger(limit) || limit < 1 || limit > pageMax) {
    throw new StoreError('constraint', `The limit of a page of calls must be from 1 to ${pageMax}; got ${limit}.`);
  }
  const startMs = filter.startMs ?? 0;
  const selection = await selectCallsOf(database, names, filter, scope);
  if (selection === undefined) return { calls: [], searchedToMs: startMs };
  const found: SqlRow[] = [];
  const from = firstPlace(filter.endMs, scan.after);
  const reached = await readWindows(database, selection, { from, startMs, workMs: scan.workMs }, async (window) => {
    for (const row of await readWindow(database, selection, window, limit - found.length)) found.push(row);
    return found.length < limit;
  });
  const last = found.at(-1);
  const next = found.length === limit && last !== undefined ? placeOf(last) : reached;
  return {
    calls: await describeCalls(database, names, found),
    ...(next === undefined ? {} : { next }),
    searchedToMs: next?.atMs ?? startMs,
  };
}

function firstPlace(endMs: number | undefined, after: CallPlace | undefined): CallPlace {
  // No number is negative: all calls before the end follow.
  const end = endMs === undefined ? beginning : { atMs: endMs, number: -1 };
  return after === undefined || end.atMs < after.atMs || (end.atMs === after.atMs && end.number < after.number) ? end : after;
}

const placeOf = (row: SqlRow): CallPlace => ({ atMs: readInteger(row, 'at_ms'), number: readInteger(row, 'number') });

/**
 * Cuts the list into windows that are read quickly, whatever the filter selects in them, until the time for work is
 * over.
 * @param read reads a window, and says whether the next is wanted
 * @returns the place that was reached; undefined at the end of the list
 */
async function readWindows(
  database: Database,
  { streams }: CallSelection,
  { from, startMs, workMs }: { readonly from: CallPlace; readonly startMs: number; readonly workMs: number },
  read: (window: Window) => Promise<boolean>,
): Promise<CallPlace | undefined> {
  const begunMs = performance.now();
  let [place, rows] = [from, firstWindow];
  for (;;) {
    const windowMs = performance.now();
    const { to, byTime } = await findEnd(database, streams, { from: place, startMs, rows });
    const isWanted = await read({ from: place, to, startMs, byTime });
    const endedMs = performance.now();
    if (to === undefined || !isWanted || endedMs - begunMs >= workMs) return to;
    place = to;
    // The next window takes about as long as a window may, or as there is time.
    const share = Math.min(windowMsMax, workMs - (endedMs - begunMs)) / Math.max(0.1, endedMs - windowMs);
    rows = Math.ceil(Math.min(windowMax, Math.max(firstWindow, rows * Math.min(2, share))));
  }
}

// One bound on each side is for the index; the plus keeps the exact ones from taking its place.
const isBefore = 'at_ms <= ? and at_ms >= ? and (+at_ms, number) < (?, ?)';
const isInWindow = `${isBefore} and (+at_ms, number) >= (?, ?)`;

type Reading = { readonly from: CallPlace; readonly startMs: number; readonly rows: number };

/**
 * The place that none of the streams reaches with fewer rows, undefined if all end before, and whether the calls before
 * it are found by their times alone.
 */
async function findEnd(
  database: Database,
  streams: readonly CallStream[],
  reading: Reading,
): Promise<{ readonly to: CallPlace | undefined; readonly byTime: boolean }> {
  let end: CallPlace | undefined;
  let byTime = false;
  for (const stream of streams) {
    const spans = stream.spans === undefined ? undefined : await findEndOfSpans(database, stream.spans, reading);
    byTime ||= spans?.isDense === true;
    const place = stream.spans === undefined ? await findEndOfIndex(database, stream, reading) : spans?.place;
    if (place !== undefined && (end === undefined || isLater(place, end))) end = place;
  }
  const inside = byTime ? await findEndOfIndex(database, allCalls, reading) : undefined;
  const to = inside !== undefined && (end === undefined || isLater(inside, end)) ? inside : end;
  // The beginning of a slot may be before the time that is asked for.
  return { to: to !== undefined && to.atMs < reading.startMs ? undefined : to, byTime };
}

const allCalls: CallStream = { sql: '1 = 1', parameters: [] };

const isLater = (one: CallPlace, other: CallPlace): boolean =>
  one.atMs > other.atMs || (one.atMs === other.atMs && one.number > other.number);

async function findEndOfIndex(
  database: Database,
  { sql, parameters }: CallStream,
  { from, startMs, rows }: Reading,
): Promise<CallPlace | undefined> {
  const select = `select at_ms, number from call_facts where ${sql} and ${isBefore} order by at_ms desc, number desc limit 1 offset ?`;
  const row = await database.first(select, ...parameters, from.atMs, startMs, from.atMs, from.number, rows - 1);
  return row === undefined ? undefined : placeOf(row);
}

/** The rows of a stream in a window: follows `from`. */
function rowsOf({ sql, parameters, spans }: CallStream, window: Window): Conditions {
  const bounds = boundsOf(window);
  if (spans === undefined || window.byTime)
    return { sql: `call_facts where ${sql} and ${isInWindow}`, parameters: [...parameters, ...bounds] };
  const slots = slotsOf(window.from, Math.max(window.startMs, window.to?.atMs ?? 0));
  return {
    // The rows of a span are found by their numbers and not by an index of times.
    sql: `${callsInSpans('facts')} and ${isInSlots('?', '?')} and ${sql} and ${isInWindow.replaceAll(/(?<!\+)at_ms/g, '+at_ms')}`,
    parameters: [spans, ...slots, ...parameters, ...bounds],
  };
}

const boundsOf = ({ from, to, startMs }: Window): readonly number[] => {
  const end = to ?? { atMs: -1, number: -1 };
  return [from.atMs, Math.max(startMs, end.atMs), from.atMs, from.number, end.atMs, end.number];
};

async function readWindow(database: Database, { streams, rest }: CallSelection, window: Window, limit: number): Promise<readonly SqlRow[]> {
  const rows: SqlRow[] = [];
  for (const stream of streams) {
    const { sql, parameters } = rowsOf(stream, window);
    const select = `select ${describing} from ${sql} and ${rest.sql} order by at_ms desc, number desc limit ?`;
    rows.push(...(await database.all(select, ...parameters, ...rest.parameters, limit)));
  }
  if (streams.length === 1) return rows;
  const places = rows.map((row) => ({ row, place: placeOf(row) }));
  places.sort((one, other) => other.place.atMs - one.place.atMs || other.place.number - one.place.number);
  return places.slice(0, limit).map(({ row }) => row);
}

/** The columns with the number of a name. */
const nameColumns = [
  'user_ref',
  'key_ref',
  'model_ref',
  'served_ref',
  'upstream_ref',
  'upstream_model_ref',
  'interface_ref',
  'error_ref',
  'team_ref',
  'tags_ref',
] as const;
type NameColumn = (typeof nameColumns)[number];

/** Everything that a call in a list is described by. */
const describing =
  `number, at_ms, call_id, ${nameColumns.join(', ')}, status, flags, use_time_ms, first_byte_ms, ` +
  'whole_kusd, whole_nano, whole_prompt, whole_completion, whole_end';

/** An export describes a million calls: no row waits for a promise, and equal tags and flags are read once. */
async function describeCalls(database: Database, names: NameReader, rows: readonly SqlRow[]): Promise<readonly CallSummary[]> {
  const numbers = new Set(rows.flatMap((row) => nameColumns.map((column) => readInteger(row, column))));
  const known = await names.namesOf(database, numbers);
  const [tags, flags] = [new Map<string, CallTags>(), new Map<number, readonly CallFlag[]>()];
  return rows.map((row) => {
    const nameOf = (column: NameColumn): FactName | undefined => known.get(readInteger(row, column));
    const tagText = nameOf('tags_ref')?.value;
    return describeCall(row, nameOf, {
      tags: tagText === undefined ? undefined : tags.getOrInsertComputed(tagText, readTags),
      flags: flags.getOrInsertComputed(readInteger(row, 'flags'), flagsOf),
    });
  });
}

const flagNames = Object.keys(callFlags) as readonly CallFlag[];
const flagsOf = (bits: number): readonly CallFlag[] => flagNames.filter((flag) => (bits & callFlags[flag]) !== 0);

function describeCall(
  row: SqlRow,
  nameOf: (column: NameColumn) => FactName | undefined,
  { tags, flags }: { readonly tags: CallTags | undefined; readonly flags: readonly CallFlag[] },
): CallSummary {
  const key = nameOf('key_ref');
  const [userName, keyName] = splitKeyLabel(key?.label ?? '');
  const status = readInteger(row, 'status');
  const firstByteMs = readOptionalInteger(row, 'first_byte_ms');
  const [team, servedModel] = [nameOf('team_ref')?.label, nameOf('served_ref')?.value];
  const [upstream, upstreamModel, errorCode] = [
    nameOf('upstream_ref')?.value,
    nameOf('upstream_model_ref')?.value,
    nameOf('error_ref')?.value,
  ];
  return {
    ...placeOf(row),
    callId: readText(row, 'call_id'),
    userName: nameOf('user_ref')?.value ?? userName,
    keyId: key?.value ?? '',
    keyName,
    model: nameOf('model_ref')?.value ?? '',
    interface: nameOf('interface_ref')?.value ?? '',
    end: endOfCode(readInteger(row, 'whole_end')),
    flags,
    promptTokens: readInteger(row, 'whole_prompt'),
    completionTokens: readInteger(row, 'whole_completion'),
    durationMs: readInteger(row, 'use_time_ms'),
    amountNanoUsd: readWide(row, 'whole'),
    ...(team !== undefined && { team }),
    ...(tags !== undefined && { tags }),
    ...(servedModel !== undefined && { servedModel }),
    ...(upstream !== undefined && { upstream }),
    ...(upstreamModel !== undefined && { upstreamModel }),
    ...(errorCode !== undefined && { errorCode }),
    ...(status !== 0 && { status }),
    ...(firstByteMs !== undefined && { firstByteMs }),
  };
}

/** Counts calls by time and end, the newest first. See CallFactsStore. */
export async function countCallsByTime(database: Database, names: NameReader, count: CallCount): Promise<CallCounts> {
  const { filter, bucketMs } = count;
  const selection = await selectCallsOf(database, names, filter, count.scope);
  if (selection === undefined) return { buckets: [], searchedToMs: filter.startMs };
  const buckets = new Map<number, Record<CallEnd, number>>();
  const from = firstPlace(filter.endMs, undefined);
  const reached = await readWindows(database, selection, { from, startMs: filter.startMs, workMs: count.workMs }, async (window) => {
    for (const stream of selection.streams) {
      const { sql, parameters } = rowsOf(stream, window);
      const select = `select at_ms / cast(? as bigint) as bucket, whole_end, count(*) as calls from ${sql}
        and ${selection.rest.sql} group by 1, 2`;
      const rows = await database.all(select, bucketMs, ...parameters, ...selection.rest.parameters);
      for (const row of rows) {
        const ends = buckets.getOrInsertComputed(readInteger(row, 'bucket') * bucketMs, noCalls);
        ends[endOfCode(readInteger(row, 'whole_end'))] += readInteger(row, 'calls');
      }
    }
    return true;
  });
  const sorted = [...buckets].toSorted(([one], [other]) => one - other);
  return { buckets: sorted.map(([startMs, ends]): CountedCalls => ({ startMs, ends })), searchedToMs: reached?.atMs ?? filter.startMs };
}

function noCalls(): Record<CallEnd, number> {
  return Object.fromEntries(Object.keys(endCodes).map((end) => [end, 0])) as Record<CallEnd, number>;
}
