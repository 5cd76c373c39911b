import type { CallEntry } from '../../billing/ledger/call-entry.ts';
import { rowIdsOf } from '../../billing/ledger/row-ids.ts';
import { toStorableText } from '../storable-text.ts';
import { StoreError } from '../store-error.ts';
import type { LedgerStoreOperations } from '../worker/store-protocol.ts';
import { bookSpend, SpendOfBatch } from './booked-spend.ts';
import { callColumns, decodeCallEntry, readCallRow, readIncrement } from './call-entry-row.ts';
import { encodeForStore, joinEncoded, splitEncoded } from './encoded-batch.ts';
import type { CallRow, UsageIncrement } from './call-entry-row.ts';
import type { Database, SqlRow, SqlValue } from './database.ts';

/** Entries that one listing may ask for. */
const listedEntriesMax = 10_000;

const placeholders = `(${callColumns.map(() => '?').join(', ')})`;
const createInsert = (rows: number): string =>
  `insert into calls (${callColumns.join(', ')}) values ${Array.from({ length: rows }, () => placeholders).join(', ')} on conflict (call_id) do nothing`;

const insertCall = createInsert(1);

const rollUps = {
  minutes: { unitMs: 60_000, upsert: createUpsert('usage_minutes', 'minute') },
  hours: { unitMs: 3_600_000, upsert: createUpsert('usage_hours', 'hour') },
};

/** The ledger on a connection. */
export function createLedgerOperations(database: Database): LedgerStoreOperations {
  const insertNew = createInsertNew(database.words.rowsPerInsert);
  return {
    appendBatch: async (batch, nodeId) => {
      const rows = splitEncoded(batch).map(({ summary, text }) => readCallRow(summary, text));
      // What is inserted once is told by the key and what is added is added by the statement, so that a transaction need not be alone.
      try {
        return await database.transact((transaction) => appendRows(transaction, rows, insertNew, nodeId), 'read-committed');
      } catch (error) {
        if (!(error instanceof RowsKnownError)) throw error;
        return await database.transact((transaction) => appendRows(transaction, rows, insertEach, nodeId), 'read-committed');
      }
    },
    findReplyOwner: async (replyId) => {
      const row = await database.first('select * from calls where reply_id = ?', toStorableText(replyId));
      if (row === undefined) return undefined;
      const { userName, upstream } = decodeCallEntry(row);
      return { userName, upstream };
    },
    findEntry: async (callId) => {
      const row = await database.first('select * from calls where call_id = ?', toStorableText(callId));
      return row === undefined ? undefined : decodeCallEntry(row);
    },
    listCallRows: (callId) => listCallRows(database, callId),
    listEntries: (filter) => listEntries(database, filter),
  };
}

/**
 * Adds one row together with the statistics it adds to, within the caller's transaction, which has to be `read-committed`: the row of a minute is
 * everybody's. One that is there already stays as it is and adds nothing. Throws StoreError
 * `entry-out-of-range`.
 */
export async function bookEntry(database: Database, entry: CallEntry): Promise<void> {
  const rows = splitEncoded(joinEncoded([encodeForStore(entry)])).map(({ summary, text }) => readCallRow(summary, text));
  await appendRows(database, rows, insertEach);
}

/** Some of the rows are there already. */
class RowsKnownError extends Error {}

type Insert = (database: Database, rows: readonly CallRow[], spend: SpendOfBatch) => Promise<readonly CallRow[]>;

/** Inserts rows that are all new, as they nearly always are. Throws RowsKnownError, which has to undo the transaction, when some are not. */
function createInsertNew(rowsAtOnce: number): Insert {
  const insertCalls = createInsert(rowsAtOnce);
  return async (database, unnamed, spend) => {
    const rows = unnamed.map((row) => {
      const named = spend.name(row);
      spend.add(named);
      return named;
    });
    let at = 0;
    for (; at + rowsAtOnce <= rows.length; at += rowsAtOnce) {
      const values: SqlValue[] = [];
      for (const row of rows.slice(at, at + rowsAtOnce)) values.push(...row);
      if ((await database.run(insertCalls, ...values)) !== rowsAtOnce) throw new RowsKnownError();
    }
    for (const row of rows.slice(at)) if ((await database.run(insertCall, ...row)) === 0) throw new RowsKnownError();
    return rows;
  };
}

/** Inserts row by row, and returns those that were new. */
const insertEach: Insert = async (database, rows, spend) => {
  const added: CallRow[] = [];
  for (const row of rows) {
    const named = spend.name(row);
    if ((await database.run(insertCall, ...named)) === 0) continue;
    spend.add(named);
    added.push(named);
  }
  return added;
};

async function appendRows(database: Database, rows: readonly CallRow[], insert: Insert, nodeId?: string): Promise<number> {
  const spend = new SpendOfBatch();
  const added = await insert(database, rows, spend);
  const minutes = sumUp(
    added.map(readIncrement).filter((increment) => increment !== undefined),
    rollUps.minutes.unitMs,
  );
  for (const sum of minutes) await writeSum(database, rollUps.minutes.upsert, sum, rollUps.minutes.unitMs);
  for (const sum of sumUp(minutes, rollUps.hours.unitMs)) await writeSum(database, rollUps.hours.upsert, sum, rollUps.hours.unitMs);
  await bookSpend(database, spend, nodeId);
  return added.length;
}

/** What one batch adds to one row of a roll-up. */
type RollUpSum = Omit<UsageIncrement, 'callId'> & { readonly callIds: string[]; readonly amounts: (number | bigint)[] };

/** Sums of increments, or of finer sums, by unit of time and names. */
function sumUp(parts: readonly (UsageIncrement | RollUpSum)[], unitMs: number): readonly RollUpSum[] {
  const sums = new Map<string, RollUpSum>();
  let last: RollUpSum | undefined;
  for (const part of parts) {
    const acceptedAtMs = Math.floor(part.acceptedAtMs / unitMs) * unitMs;
    // Calls that follow each other often count together, and comparing is cheaper than looking up.
    const sum = last !== undefined && countsFor(last, acceptedAtMs, part.names) ? last : findSum(sums, acceptedAtMs, part.names);
    last = sum;
    if ('callIds' in part) sum.callIds.push(...part.callIds);
    else sum.callIds.push(part.callId);
    for (let index = 0; index < part.amounts.length; index++) {
      sum.amounts[index] = add(sum.amounts[index] ?? 0, part.amounts[index] ?? 0);
    }
  }
  // Everybody writes them in one order, so that no two transactions wait for each other. Which one does not matter.
  const keys = [...sums.keys()].toSorted();
  return keys.flatMap((key) => sums.get(key) ?? []);
}

function countsFor(sum: RollUpSum, acceptedAtMs: number, [userName, tokenName, modelName]: UsageIncrement['names']): boolean {
  const [sumUser, sumToken, sumModel] = sum.names;
  return sum.acceptedAtMs === acceptedAtMs && sumToken === tokenName && sumModel === modelName && sumUser === userName;
}

/** The sum of a unit of time and names, a new one where there is none yet. */
function findSum(sums: Map<string, RollUpSum>, acceptedAtMs: number, names: UsageIncrement['names']): RollUpSum {
  const [userName, tokenName, modelName] = names;
  // No name holds the separator: NUL is not storable text.
  const key = `${acceptedAtMs}\0${userName}\0${tokenName}\0${modelName}`;
  const found = sums.get(key);
  if (found !== undefined) return found;
  const sum = { acceptedAtMs, names, callIds: [], amounts: [] };
  sums.set(key, sum);
  return sum;
}

/** An exact sum: numbers as long as they are exact, which is nearly always and costs a tenth. */
function add(one: number | bigint, other: number | bigint): number | bigint {
  if (typeof one === 'number' && typeof other === 'number') {
    const sum = one + other;
    if (Number.isSafeInteger(sum)) return sum;
  }
  return BigInt(one) + BigInt(other);
}

async function writeSum(database: Database, upsert: string, sum: RollUpSum, unitMs: number): Promise<void> {
  try {
    await database.run(upsert, sum.acceptedAtMs / unitMs, ...sum.names, ...sum.amounts);
  } catch (error) {
    if (error instanceof StoreError && error.kind !== 'constraint' && error.kind !== 'internal') throw error;
    const message = 'Entries cannot be booked: with them the sum of their minute exceeds 64 bits.';
    throw new StoreError('entry-out-of-range', message, { callIds: sum.callIds, cause: error });
  }
}

function createUpsert(table: string, unit: string): string {
  const sums = [
    'prompt_tokens',
    'completion_tokens',
    'cache_tokens',
    'cache_creation_tokens',
    'use_time_ms',
    'call_count',
    'amount_nano_usd',
  ];
  return `insert into ${table} (${unit}, user_name, token_name, model_name, ${sums.join(', ')})
    values (?, ?, ?, ?, ${sums.map(() => '?').join(', ')})
    on conflict (${unit}, user_name, token_name, model_name)
    do update set ${sums.map((column) => `${column} = ${table}.${column} + excluded.${column}`).join(', ')}`;
}

const selectCallRows = `select * from calls where call_id in (${rowIdsOf('')
  .map(() => '?')
  .join(', ')})`;

async function listCallRows(database: Database, callId: string): Promise<readonly CallEntry[]> {
  const rowIds = rowIdsOf(callId);
  const rows = await database.all(selectCallRows, ...rowIds.map(toStorableText));
  return rows.map(decodeCallEntry).toSorted((one, other) => rowIds.indexOf(one.callId) - rowIds.indexOf(other.callId));
}

type EntryFilter = Parameters<LedgerStoreOperations['listEntries']>[0];

async function listEntries(database: Database, filter: EntryFilter): Promise<readonly CallEntry[]> {
  if (!Number.isInteger(filter.limit) || filter.limit < 1 || filter.limit > listedEntriesMax) {
    throw new StoreError('constraint', `A listing takes a limit of 1 to ${listedEntriesMax}, not ${filter.limit}.`);
  }
  const conditions: string[] = [];
  const parameters: SqlValue[] = [];
  if (filter.userName !== undefined) {
    conditions.push('user_name = ?');
    parameters.push(toStorableText(filter.userName));
  }
  if (filter.before !== undefined) {
    // When no such entry exists the comparison is with null, and nothing is listed.
    conditions.push('(accepted_at_ms, call_id) < (select accepted_at_ms, call_id from calls where call_id = ?)');
    parameters.push(toStorableText(filter.before));
  }
  const where = conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`;
  const sql = `select * from calls ${where} order by accepted_at_ms desc, call_id desc limit ?`;
  return (await database.all(sql, ...parameters, filter.limit)).map((row: SqlRow) => decodeCallEntry(row));
}
