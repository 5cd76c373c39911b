import type { Change } from '../../audit/change-author.ts';
import type { CallEntry } from '../../billing/ledger/call-entry.ts';
import type { DisputedRow, UnpricedModel } from '../../billing/ledger/ledger-store.ts';
import { rowIdsOf, settlementRowId } from '../../billing/ledger/row-ids.ts';
import { toStorableText } from '../storable-text.ts';
import { StoreError } from '../store-error.ts';
import type { LedgerStoreOperations } from '../worker/store-protocol.ts';
import { appendAudit } from './audit-operations.ts';
import { listArchivedPlaces, readArchivedUntil } from './archive-operations.ts';
import { bookSpend } from './booked-spend.ts';
import { callColumns, columnAt, decodeCallEntry, readCallRow } from './call-entry-row.ts';
import { encodeForStore, joinEncoded, splitEncoded } from './encoded-batch.ts';
import type { CallRow } from './call-entry-row.ts';
import { CallShapes, selectCalls } from './call-shapes.ts';
import type { Database } from './database.ts';
import type { SqlRow, SqlValue } from './sql-values.ts';
import { inParts, joinRows, perRows, valuesOf } from './in-parts.ts';
import { namesIn } from './names-in.ts';
import { isInPage } from './page-of-calls.ts';
import { addToRollUps, SumRefusedError } from './roll-ups.ts';
import { readInteger, readText } from './read-column.ts';
import { BatchTransactions } from './batch-transactions.ts';

/** The highest `limit` of a list of entries. */
const listedEntriesMax = 10_000;

/** The inserts of an engine by their number of rows. */
function createInsert({ insertOrFail, textOfBytes }: Database['fragments']): (rows: number) => string {
  const row = `(${callColumns.map((column) => (column === 'entry' ? textOfBytes : '?')).join(', ')})`;
  const into = `${insertOrFail} into calls (${callColumns.join(', ')})`;
  return perRows((rows) => `${into} ${valuesOf(row, rows)} on conflict (call_id) do nothing`);
}

/** insertEach adds to one sum at a time. */
const oneByOne = [1] as const;

/**
 * Work with rows of a journal, in the transaction that books them.
 * @returns what to do after the commit
 */
type WithBooked = (transaction: Database, booked: readonly CallRow[]) => Promise<() => void>;

/** The SQL of the ledger. */
export function createLedgerOperations(database: Database, withBooked?: WithBooked): LedgerStoreOperations {
  const insertNew = createInsertNew(database.fragments);
  const insertEach = createInsertEach(database.fragments);
  const shapes = new CallShapes();
  const append = async (rows: readonly CallRow[], appending: Appending): Promise<number> => {
    const used = new Set(rows.map(({ shape }) => shape).filter((shape) => shape !== undefined));
    try {
      const { added, commit } = await database.transact(async (transaction) => {
        await shapes.write(transaction, used);
        const added = await appendRows(transaction, rows, appending);
        // Other rows than those of a journal are few.
        return { added, commit: appending.nodeId === undefined ? undefined : await withBooked?.(transaction, added) };
      }, 'read-committed');
      shapes.noteWritten(used);
      commit?.();
      return added.length;
    } catch (error) {
      shapes.noteWritten(undefined);
      throw error;
    }
  };
  return {
    appendBatch: async (batch, nodeId) => {
      const rows = splitEncoded(batch).map(({ summary, text }) => {
        database.giveWay();
        return readCallRow(summary, text, shapes);
      });
      // The primary key detects a repeated insert, and the statement itself adds to sums, so the transaction need not
      // be serializable.
      try {
        return await append(rows, { insert: insertNew, sumsPerInsert: database.fragments.sumsPerInsert, nodeId });
      } catch (error) {
        // A repetition with single rows and single sums shows which rows exist and which sum does not fit.
        if (!(error instanceof RowsExistError) && !(error instanceof SumRefusedError)) throw error;
        return await append(rows, { insert: insertEach, sumsPerInsert: oneByOne, nodeId });
      }
    },
    findReplyOwner: async (replyId) => {
      const row = await database.first(`${selectCalls} where reply_id = ?`, toStorableText(replyId));
      if (row === undefined) return undefined;
      const { userName, callId, upstream } = decodeCallEntry(row);
      return { userName, callId, upstream };
    },
    findEntry: async (callId) => {
      const row = await database.first(`${selectCalls} where call_id = ?`, toStorableText(callId));
      return row === undefined ? undefined : decodeCallEntry(row);
    },
    listCallRows: (callId) => listCallRows(database, callId),
    listEntries: (filter) => listEntries(database, filter),
    listDisputed: (filter) => listDisputed(database, filter),
    listUnpriced: (filter) => listUnpriced(database, filter),
    bookSettlement: (row, change) => database.transact((transaction) => bookSettlement(transaction, row, change), 'read-committed'),
    listEntriesBetween: (page) => listEntriesBetween(database, page),
  };
}

/**
 * Adds one row and its part in the statistics, within the caller's transaction, which must be `read-committed` because
 * everybody writes the row of a minute. An existing row is not changed and adds nothing; then the result is false.
 * Throws StoreError `entry-out-of-range`.
 */
export async function bookEntry(database: Database, entry: CallEntry): Promise<boolean> {
  const rows = splitEncoded(joinEncoded([encodeForStore(entry)])).map(({ summary, text }) => readCallRow(summary, text));
  const appending = { insert: createInsertEach(database.fragments), sumsPerInsert: oneByOne, nodeId: undefined };
  return (await appendRows(database, rows, appending)).length > 0;
}

async function bookSettlement(transaction: Database, row: CallEntry, change: Change): Promise<boolean> {
  if (!(await bookEntry(transaction, row))) return false;
  const { settlement } = row;
  const states = {
    before: JSON.stringify(settlement?.before ?? {}),
    after: JSON.stringify({
      decision: settlement?.decision,
      usage: settlement?.after,
      difference_nano_usd: String(row.charge.amountNanoUsd),
    }),
  };
  await appendAudit(transaction, change, { action: 'disputes.settle', subject: `call:${settlement?.of ?? row.callId}`, ...states });
  return true;
}

/** Some of the rows exist already. */
class RowsExistError extends Error {}

type Insert = (database: Database, rows: readonly CallRow[], transactions: BatchTransactions) => Promise<readonly CallRow[]>;

/**
 * Inserts rows that are all new, which is the normal case. Throws RowsKnownError, which must undo the transaction, if
 * some exist.
 */
function createInsertNew(fragments: Database['fragments']): Insert {
  const insert = createInsert(fragments);
  return async (database, rows, transactions) => {
    for (const row of rows) {
      database.giveWay();
      transactions.name(row);
      transactions.add(row);
    }
    for (const part of inParts(rows, fragments.rowsPerInsert)) {
      const values = joinRows(part.map((row) => row.values));
      if ((await database.run(insert(part.length), ...values)) !== part.length) throw new RowsExistError();
    }
    return rows;
  };
}

/** Inserts row by row, and returns the new ones. */
function createInsertEach(fragments: Database['fragments']): Insert {
  const insert = createInsert(fragments)(1);
  return async (database, rows, transactions) => {
    const added: CallRow[] = [];
    for (const row of rows) {
      transactions.name(row);
      if ((await database.run(insert, ...row.values)) === 0) continue;
      transactions.add(row);
      added.push(row);
    }
    return added;
  };
}

type Appending = { readonly insert: Insert; readonly sumsPerInsert: readonly number[]; readonly nodeId: string | undefined };

/** Returns the rows that were added. */
async function appendRows(
  database: Database,
  rows: readonly CallRow[],
  { insert, sumsPerInsert, nodeId }: Appending,
): Promise<readonly CallRow[]> {
  const transactions = new BatchTransactions();
  const added = await insert(database, await withoutBooked(database, rows), transactions);
  await addToRollUps(database, added, sumsPerInsert);
  await bookSpend(database, transactions, nodeId);
  // A credit frees money that can be spent: a refused caller may succeed now.
  if (added.some(({ values }) => Number(values[amountColumn]) < 0))
    await database.run("update counters set value = value + 1 where name = 'credits_version'");
  return added;
}

const acceptedColumn = columnAt('accepted_at_ms');

/**
 * Without rows that were booked and then archived, so that no key of `calls` shows it: a journal may come back after
 * months. Such rows have facts.
 */
async function withoutBooked(database: Database, rows: readonly CallRow[]): Promise<readonly CallRow[]> {
  const untilMs = await readArchivedUntil(database);
  const late = rows.filter(({ values }) => Number(values[acceptedColumn]) < untilMs);
  if (late.length === 0) return rows;
  const ids = late.map(({ values }) => String(values[0]));
  const booked = new Set((await listArchivedPlaces(database, ids)).map(({ callId }) => callId));
  return booked.size === 0 ? rows : rows.filter(({ values }) => !booked.has(String(values[0])));
}

const amountColumn = columnAt('amount_nano_usd');

const selectCallRows = `${selectCalls} where call_id in (${rowIdsOf('')
  .map(() => '?')
  .join(', ')})`;

async function listCallRows(database: Database, callId: string): Promise<readonly CallEntry[]> {
  const rowIds = rowIdsOf(callId);
  const rows = await database.all(selectCallRows, ...rowIds.map(toStorableText));
  return rows.map(decodeCallEntry).toSorted((one, other) => rowIds.indexOf(one.callId) - rowIds.indexOf(other.callId));
}

type EntryFilter = Parameters<LedgerStoreOperations['listEntries']>[0];

function checkLimit(limit: number): void {
  if (Number.isInteger(limit) && limit >= 1 && limit <= listedEntriesMax) return;
  throw new StoreError('constraint', `The limit of a list must be from 1 to ${listedEntriesMax}; got ${limit}.`);
}

async function listDisputed(
  database: Database,
  { limit, users, settled }: Parameters<LedgerStoreOperations['listDisputed']>[0],
): Promise<readonly DisputedRow[]> {
  checkLimit(limit);
  const suffix = settlementRowId('');
  if (users?.length === 0) return [];
  const named = users === undefined ? undefined : namesIn('c.user_name', users.map(toStorableText));
  const ofUser = named === undefined ? '' : `and ${named.sql}`;
  const open = settled ? '' : 'and s.call_id is null';
  const sql = `select c.entry as entry, s.entry as settlement from calls c
      left join calls s on s.call_id = c.call_id || cast(? as text)
    where c.disputed = 1 ${ofUser} ${open} order by c.accepted_at_ms desc, c.call_id desc limit ?`;
  const rows = await database.all(sql, suffix, ...(named?.parameters ?? []), limit);
  return rows.map((row) => ({
    entry: decodeCallEntry(row),
    ...(row['settlement'] === null ? {} : { settlement: decodeCallEntry({ entry: row['settlement'] ?? null }) }),
  }));
}

async function listUnpriced(
  database: Database,
  { startMs, endMs, limit, users }: Parameters<LedgerStoreOperations['listUnpriced']>[0],
): Promise<readonly UnpricedModel[]> {
  checkLimit(limit);
  if (users?.length === 0) return [];
  const named = users === undefined ? undefined : namesIn('user_name', users.map(toStorableText));
  const ofUser = named === undefined ? '' : `and ${named.sql}`;
  const sql = `select requested_model, count(*) as calls, max(accepted_at_ms) as last_ms from calls
    where unpriced = 1 and accepted_at_ms >= ? and accepted_at_ms < ? ${ofUser} group by requested_model order by calls desc, requested_model limit ?`;
  const rows = await database.all(sql, startMs, endMs, ...(named?.parameters ?? []), limit);
  return rows.map((row) => ({
    requestedModel: readText(row, 'requested_model'),
    calls: readInteger(row, 'calls'),
    lastMs: readInteger(row, 'last_ms'),
  }));
}

async function listEntriesBetween(
  database: Database,
  { limit, ...page }: Parameters<LedgerStoreOperations['listEntriesBetween']>[0],
): Promise<readonly CallEntry[]> {
  checkLimit(limit);
  const { sql: condition, parameters } = isInPage(page);
  const sql = `${selectCalls} where ${condition} order by accepted_at_ms, call_id limit ?`;
  return (await database.all(sql, ...parameters, limit)).map((row: SqlRow) => decodeCallEntry(row));
}

async function listEntries(database: Database, filter: EntryFilter): Promise<readonly CallEntry[]> {
  checkLimit(filter.limit);
  const conditions: string[] = [];
  const parameters: SqlValue[] = [];
  if (filter.userName !== undefined) {
    conditions.push('user_name = ?');
    parameters.push(toStorableText(filter.userName));
  }
  if (filter.before !== undefined) {
    // If there is no such entry, the comparison is with null, and nothing is listed.
    conditions.push('(accepted_at_ms, call_id) < (select accepted_at_ms, call_id from calls where call_id = ?)');
    parameters.push(toStorableText(filter.before));
  }
  const where = conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`;
  const sql = `${selectCalls} ${where} order by accepted_at_ms desc, call_id desc limit ?`;
  return (await database.all(sql, ...parameters, filter.limit)).map((row: SqlRow) => decodeCallEntry(row));
}
