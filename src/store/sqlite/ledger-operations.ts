import type { CallEntry } from '../../billing/ledger/call-entry.ts';
import { rowIdsOf } from '../../billing/ledger/row-ids.ts';
import { toStorableText } from '../storable-text.ts';
import { StoreError } from '../store-error.ts';
import type { LedgerStoreOperations } from './store-protocol.ts';
import { callColumns, decodeCallEntry, readCallRow, readIncrement } from './call-entry-row.ts';
import { encodeForStore, joinEncoded, splitEncoded } from './encoded-batch.ts';
import type { CallRow, UsageIncrement } from './call-entry-row.ts';
import type { Database, SqlRow, SqlValue } from './open-database.ts';

/** Entries that one listing may ask for. */
const listedEntriesMax = 10_000;

const placeholders = `(${callColumns.map(() => '?').join(', ')})`;
const createInsert = (rows: number): string =>
  `insert into calls (${callColumns.join(', ')}) values ${Array.from({ length: rows }, () => placeholders).join(', ')} on conflict (call_id) do nothing`;

const insertCall = createInsert(1);
/** Rows in one statement: most of the way to what more would save, and rarely more than there are. */
const rowsAtOnce = 8;
const insertCalls = createInsert(rowsAtOnce);

const rollUps = {
  minutes: { unitMs: 60_000, upsert: createUpsert('usage_minutes', 'minute') },
  hours: { unitMs: 3_600_000, upsert: createUpsert('usage_hours', 'hour') },
};

/** The ledger on a connection. */
export function createLedgerOperations(database: Database): LedgerStoreOperations {
  return {
    appendBatch: (batch) => {
      const rows = splitEncoded(batch).map(({ summary, text }) => readCallRow(summary, text));
      try {
        return database.transact(() => appendRows(database, rows, insertNew));
      } catch (error) {
        if (!(error instanceof RowsKnownError)) throw error;
        return database.transact(() => appendRows(database, rows, insertEach));
      }
    },
    findReplyOwner: (replyId) => {
      const row = database.first('select * from calls where reply_id = ?', toStorableText(replyId));
      if (row === undefined) return undefined;
      const { userName, upstream } = decodeCallEntry(row);
      return { userName, upstream };
    },
    findEntry: (callId) => {
      const row = database.first('select * from calls where call_id = ?', toStorableText(callId));
      return row === undefined ? undefined : decodeCallEntry(row);
    },
    listCallRows: (callId) => listCallRows(database, callId),
    listEntries: (filter) => listEntries(database, filter),
  };
}

/**
 * Adds one row together with the statistics it adds to, within the caller's transaction. One that is there already stays as it is and adds nothing. Throws StoreError
 * `entry-out-of-range`.
 */
export function bookEntry(database: Database, entry: CallEntry): void {
  const rows = splitEncoded(joinEncoded([encodeForStore(entry)])).map(({ summary, text }) => readCallRow(summary, text));
  appendRows(database, rows, insertEach);
}

/** Some of the rows are there already. */
class RowsKnownError extends Error {}

type Insert = (database: Database, rows: readonly CallRow[]) => readonly CallRow[];

/** Inserts rows that are all new, as they nearly always are. Throws RowsKnownError, which has to undo the transaction, when some are not. */
const insertNew: Insert = (database, rows) => {
  let at = 0;
  for (; at + rowsAtOnce <= rows.length; at += rowsAtOnce) {
    const values: SqlValue[] = [];
    for (const row of rows.slice(at, at + rowsAtOnce)) values.push(...row);
    if (database.run(insertCalls, ...values) !== rowsAtOnce) throw new RowsKnownError();
  }
  for (const row of rows.slice(at)) if (database.run(insertCall, ...row) === 0) throw new RowsKnownError();
  return rows;
};

/** Inserts row by row, and returns those that were new. */
const insertEach: Insert = (database, rows) => rows.filter((row) => database.run(insertCall, ...row) > 0);

function appendRows(database: Database, rows: readonly CallRow[], insert: Insert): number {
  const added = insert(database, rows);
  const minutes = sumUp(
    added.map(readIncrement).filter((increment) => increment !== undefined),
    rollUps.minutes.unitMs,
  );
  for (const sum of minutes) writeSum(database, rollUps.minutes.upsert, sum, rollUps.minutes.unitMs);
  for (const sum of sumUp(minutes, rollUps.hours.unitMs)) writeSum(database, rollUps.hours.upsert, sum, rollUps.hours.unitMs);
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
  return [...sums.values()];
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

function writeSum(database: Database, upsert: string, sum: RollUpSum, unitMs: number): void {
  try {
    database.run(upsert, sum.acceptedAtMs / unitMs, ...sum.names, ...sum.amounts);
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

const callRowIdsMax = rowIdsOf('').length;

function listCallRows(database: Database, callId: string): readonly CallEntry[] {
  const rowIds = rowIdsOf(toStorableText(callId));
  const rows = database.all(`select * from calls where call_id in (${Array.from({ length: callRowIdsMax }, () => '?').join(', ')})`, ...rowIds);
  return rows
    .map((row: SqlRow) => decodeCallEntry(row))
    .toSorted((one, other) => rowIds.indexOf(one.callId) - rowIds.indexOf(other.callId));
}

type EntryFilter = Parameters<LedgerStoreOperations['listEntries']>[0];

function listEntries(database: Database, filter: EntryFilter): readonly CallEntry[] {
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
  return database.all(sql, ...parameters, filter.limit).map((row: SqlRow) => decodeCallEntry(row));
}
