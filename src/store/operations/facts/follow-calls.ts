import { endCodes } from '../../../billing/calls/call-fact.ts';
import type { FollowProgress } from '../../../billing/calls/call-facts-store.ts';
import { StoreError } from '../../store-error.ts';
import { toStorableText } from '../../storable-text.ts';
import { type CallRow, columnAt } from '../call-entry-row.ts';
import type { Database } from '../database.ts';
import { addExact } from '../exact-sum.ts';
import { readDailySums } from '../day-zone.ts';
import { inParts, joinRows, perRows, valuesOf } from '../in-parts.ts';
import type { FollowPositions } from '../new-calls.ts';
import { readBigInt, readInteger, readText } from '../read-column.ts';
import type { SqlParameter, SqlRow } from '../sql-values.ts';
import { addWide, readWide, toWide } from '../wide-amount.ts';
import { CallSpans, refInSpans } from './call-spans.ts';
import type { EntryFacts } from './entry-facts.ts';
import type { FactNames, NameRefs, NamesInTransaction } from './fact-names.ts';
import { type FollowedCall, readBookedCall, readFollowedCall, shapesOfBooked, shapesOfRead } from './followed-call.ts';
import { numberOfTags } from './tag-sets.ts';
import { ServiceSums, sweepServiceMinutes } from './service-sums.ts';

const readState = `select next_number, back_number, last_name, day_zone, day_from, packed_from_ms, packed_until_ms, packed_zone,
    last_pack from call_follow where id = 1`;
const stateOf = (row: SqlRow) => ({
  positions: { nextNumber: readInteger(row, 'next_number'), backNumber: readInteger(row, 'back_number') },
  lastName: readInteger(row, 'last_name'),
  dayZone: readText(row, 'day_zone'),
  dayFrom: readInteger(row, 'day_from'),
  packedFromMs: readInteger(row, 'packed_from_ms'),
  packedUntilMs: readInteger(row, 'packed_until_ms'),
  packedZone: readText(row, 'packed_zone'),
  lastPack: readInteger(row, 'last_pack'),
});
type State = ReturnType<typeof stateOf>;

/** The follower's positions at the moment. */
export async function readFollowState(database: Database): Promise<State> {
  const row = await database.first(readState);
  if (row === undefined) throw new StoreError('corrupt', 'The database lacks the positions of the facts about calls.');
  return stateOf(row);
}

/** The rows of the ledger without facts. */
export async function readFollowProgress(database: Database): Promise<FollowProgress> {
  const { waiting, old, earliestMs } = await database.newCalls.measure(database, (await readFollowState(database)).positions);
  return { waiting, old, ...(earliestMs === undefined ? {} : { completeUntilMs: earliestMs }) };
}

/** What a follower remembers between its steps. */
export type FollowerMemory = { readonly names: FactNames; readonly entries: EntryFacts };

/** One step of the follower. See CallFactsStore. */
export async function followCalls(database: Database, memory: FollowerMemory, limit: number, nowMs: number): Promise<'more' | 'done'> {
  if (!(await database.newCalls.areWaiting(database, (await readFollowState(database)).positions))) return 'done';
  const { followed, used } = await database.transact(async (transaction) => {
    const state = await lockState(transaction);
    if (state === undefined) return { followed: 0, used: undefined };
    const { rows, positions } = await transaction.newCalls.take(transaction, state.positions, limit);
    await memory.entries.load(transaction, shapesOfRead(rows));
    const calls = rows.map((row) => {
      transaction.giveWay();
      return readFollowedCall(row, memory.entries);
    });
    return { followed: rows.length, used: await writeStep(transaction, memory, { state, calls, positions, nowMs }) };
  }, 'read-committed');
  if (used !== undefined) memory.names.keep(used);
  return followed > 0 ? 'more' : 'done';
}

/**
 * Writes the facts of rows in the transaction that has just inserted them, which saves reading and parsing them again,
 * and a transaction. Only where the engine can tell that no other rows wait; the follower takes all that it leaves.
 * @param rowsMin fewer rows are left to the follower
 * @returns what to do after the commit
 */
export async function followBooked(
  transaction: Database,
  memory: FollowerMemory,
  booked: readonly CallRow[],
  rowsMin = 1,
): Promise<() => void> {
  const nothing = (): void => {};
  if (transaction.newCalls.takeBooked === undefined || booked.length < rowsMin) return nothing;
  try {
    const used = await transaction.transact(async (part) => {
      const state = await lockState(part);
      if (state === undefined) return undefined;
      const positions = await part.newCalls.takeBooked?.(part, state.positions, booked.length);
      if (positions === undefined) return undefined;
      await memory.entries.load(part, shapesOfBooked(booked));
      const calls = booked.map((row, index) => {
        part.giveWay();
        return readBookedCall(state.positions.nextNumber + index, row, memory.entries);
      });
      return await writeStep(part, memory, { state, calls, positions, nowMs: booked.reduce(latestOf, 0) });
    });
    return used === undefined ? nothing : () => memory.names.keep(used);
  } catch {
    // Rows are booked whether or not their facts can be written. The follower meets the same error, and reports it.
    return nothing;
  }
}

const acceptedAt = columnAt('accepted_at_ms');
const latestOf = (latestMs: number, { values }: CallRow): number => Math.max(latestMs, Number(values[acceptedAt]));

/**
 * The lock keeps other followers away: numbers, names and sums are read before they are written. Undefined while
 * another process has it.
 */
async function lockState(transaction: Database): Promise<State | undefined> {
  const row = await transaction.first(`${readState} ${transaction.fragments.forUpdateOfFree('call_follow')}`);
  return row === undefined ? undefined : await chooseZone(transaction, stateOf(row));
}

type Step = {
  readonly state: State;
  readonly calls: readonly FollowedCall[];
  /** The positions after these calls. */
  readonly positions: FollowPositions;
  readonly nowMs: number;
};

/** Writes the facts of calls, and that they have them. Returns the names, which are valid with the commit. */
async function writeStep(
  transaction: Database,
  { names }: FollowerMemory,
  { state, calls, positions, nowMs }: Step,
): Promise<NamesInTransaction> {
  const used = names.begin(transaction, state.lastName);
  const { hasCallSpans } = transaction.fragments;
  if (hasCallSpans) await transaction.run('update call_follow set writes_spans = 1 where id = 1');
  await writeFacts(transaction, calls, used, { name: state.dayZone, fromMinute: state.dayFrom }, nowMs);
  const sql = `update call_follow set next_number = ?, back_number = ?, last_name = ?, day_zone = ?, day_from = ?
    ${hasCallSpans ? ', writes_spans = 0' : ''} where id = 1`;
  await transaction.run(sql, positions.nextNumber, positions.backNumber, used.lastName, state.dayZone, state.dayFrom);
  await sweepServiceMinutes(transaction, nowMs);
  return used;
}

/** Days have the zone of the statistics. With another zone, earlier days are answered from hours. */
async function chooseZone(database: Database, state: State): Promise<State> {
  const { zone } = await readDailySums(database);
  if (zone === state.dayZone) return state;
  await database.run('delete from service_days');
  const last = await database.first('select max(hour) as hour from service_hours');
  const lastHour = last === undefined || last['hour'] === null ? undefined : readInteger(last, 'hour');
  // The next full day that no followed call is in. Two days are longer than any day.
  return { ...state, dayZone: zone, dayFrom: lastHour === undefined ? Number.MIN_SAFE_INTEGER : (lastHour + 48) * 60 };
}

const factColumns = [
  'number',
  'call_id',
  'parent_id',
  'at_ms',
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
  'end_code',
  'status',
  'billed',
  'flags',
  'prompt_tokens',
  'completion_tokens',
  'cache_tokens',
  'cache_creation_tokens',
  'use_time_ms',
  'first_byte_ms',
  'amount_nano_usd',
  'whole_kusd',
  'whole_nano',
  'whole_prompt',
  'whole_completion',
  'whole_end',
] as const;

/** By how an engine begins an insert. */
const insertsOfFacts = new Map<string, (rows: number) => string>();

function insertFacts({ insertOrFail }: Database['fragments']): (rows: number) => string {
  return insertsOfFacts.getOrInsertComputed(insertOrFail, () => {
    const row = `(${factColumns.map(() => '?').join(', ')})`;
    const into = `${insertOrFail} into call_facts (${factColumns.join(', ')})`;
    return perRows((rows) => `${into} ${valuesOf(row, rows)} on conflict (call_id) do nothing`);
  });
}

async function writeFacts(
  database: Database,
  calls: readonly FollowedCall[],
  names: NamesInTransaction,
  zone: { readonly name: string; readonly fromMinute: number },
  nowMs: number,
): Promise<void> {
  if (calls.length === 0) return;
  const parts = await readParts(database, calls);
  const service = new ServiceSums();
  const values: SqlParameter[][] = [];
  const spans = database.fragments.hasCallSpans ? new CallSpans() : undefined;
  for (const call of calls) {
    database.giveWay();
    const { names: own, endCode, tags, failedAttempts } = call.fact;
    const refs = names.knownRefs(own) ?? (await names.refsOf(own));
    const tagsRef = tags === undefined ? 0 : await numberOfTags(database, names, tags);
    spans?.add(call.number, call.atMs, spannedOf(refs));
    values.push(valuesOfFact(call, refs, tagsRef, parts?.get(call.callId)));
    service.add(refs, endCode, call.atMs, call);
    for (const attempt of failedAttempts) {
      const upstream = await names.numberOf('upstream', { value: attempt.upstream, label: '' });
      const upstreamModel = await names.numberOf('upstreamModel', { value: attempt.upstreamModel, label: '' });
      service.add({ upstream, upstreamModel, interface: refs.interface }, endCodes.failed, call.atMs, undefined);
    }
  }
  const insert = insertFacts(database.fragments);
  for (const part of inParts(values, database.fragments.rowsPerInsert)) await database.run(insert(part.length), ...joinRows(part));
  await spans?.write(database);
  for (const call of calls) if (call.fact.parentId !== undefined) await addToWhole(database, call, call.fact.parentId);
  await service.write(database, zone, nowMs);
}

const spannedOf = ({ user, key, model, upstream }: NameRefs): readonly number[] => [
  refInSpans('user_ref', user),
  refInSpans('key_ref', key),
  refInSpans('model_ref', model),
  refInSpans('upstream_ref', upstream),
];

type Sums = { readonly amount: bigint; readonly prompt: bigint; readonly completion: bigint; readonly end: number };

function valuesOfFact(call: FollowedCall, refs: NameRefs, tags: number, parts: Sums | undefined): SqlParameter[] {
  const { fact, amountNanoUsd, promptTokens, completionTokens } = call;
  const [kusd, nano] = toWide(BigInt(parts === undefined ? amountNanoUsd : addExact(amountNanoUsd, parts.amount)));
  return [
    call.number,
    call.callId,
    fact.parentId === undefined ? null : toStorableText(fact.parentId),
    call.atMs,
    refs.user,
    refs.key,
    refs.model,
    refs.servedModel,
    refs.upstream,
    refs.upstreamModel,
    refs.interface,
    refs.error,
    refs.team,
    tags,
    fact.endCode,
    fact.status,
    call.billed,
    fact.flags,
    promptTokens,
    completionTokens,
    call.cacheTokens,
    call.cacheCreationTokens,
    call.useTimeMs,
    fact.firstByteMs ?? null,
    amountNanoUsd,
    kusd,
    nano,
    parts === undefined ? promptTokens : addExact(promptTokens, parts.prompt),
    parts === undefined ? completionTokens : addExact(completionTokens, parts.completion),
    ownEnd(fact) === 0 ? (parts?.end ?? 0) : ownEnd(fact),
  ];
}

/** The end that a row means for its call: the loop of a call ends with the first round that is not finished. */
function ownEnd(fact: FollowedCall['fact']): number {
  return fact.parentId === undefined || fact.isRound ? fact.endCode : 0;
}

const selectParts = perRows(
  (rows) => `select parent_id, sum(whole_kusd) as whole_kusd, sum(whole_nano) as whole_nano, sum(prompt_tokens) as prompt,
      sum(completion_tokens) as completion, max(whole_end) as whole_end
    from call_facts where parent_id in (${Array.from({ length: rows }, () => '?').join(', ')}) group by parent_id`,
);

/** The sums of parts that have facts already, while their call has none yet. Undefined if there are none. */
async function readParts(database: Database, calls: readonly FollowedCall[]): Promise<ReadonlyMap<string, Sums> | undefined> {
  const ids = calls.flatMap(({ callId, fact }) => (fact.parentId === undefined ? [callId] : []));
  if (!(await havePartsBetween(database, ids))) return undefined;
  const found = new Map<string, Sums>();
  for (const part of inParts(ids, database.fragments.rowsPerInsert)) {
    for (const row of await database.all(selectParts(part.length), ...part)) {
      found.set(readText(row, 'parent_id'), {
        amount: readWide(row, 'whole'),
        prompt: readBigInt(row, 'prompt'),
        completion: readBigInt(row, 'completion'),
        end: readInteger(row, 'whole_end'),
      });
    }
  }
  return found;
}

/**
 * Whether any call with an id between the first and the last of some has parts. Ids count up in time, so few others lie
 * between them, and this costs less than a look-up of each. They are ASCII, and both engines compare them by bytes.
 */
async function havePartsBetween(database: Database, ids: readonly string[]): Promise<boolean> {
  let [first = '', last = ''] = ids;
  for (const id of ids) {
    if (id < first) first = id;
    if (id > last) last = id;
  }
  const sql = 'select 1 as one from call_facts where parent_id >= ? and parent_id <= ? limit 1';
  return (await database.first(sql, first, last)) !== undefined;
}

const addPart = `update call_facts set ${addWide('call_facts', 'whole').replaceAll('excluded.whole_kusd', 'cast(? as bigint)').replaceAll('excluded.whole_nano', 'cast(? as bigint)')},
    whole_prompt = whole_prompt + ?, whole_completion = whole_completion + ?, whole_end = case when whole_end = 0 then cast(? as smallint) else whole_end end
  where call_id = ?`;

async function addToWhole(database: Database, call: FollowedCall, parentId: string): Promise<void> {
  const [kusd, nano] = toWide(BigInt(call.amountNanoUsd));
  await database.run(addPart, kusd, nano, nano, call.promptTokens, call.completionTokens, ownEnd(call.fact), toStorableText(parentId));
}
