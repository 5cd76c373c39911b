import type { CallEntry } from '../../billing/ledger/call-entry.ts';
import { toStorableText } from '../storable-text.ts';
import { StoreError } from '../store-error.ts';
import type { LedgerStoreOperations } from './store-protocol.ts';
import { decodeEntry } from '../../billing/ledger/entry-json.ts';
import { callColumns, decodeCallEntry, encodeCallRow, readIncrement } from './call-entry-row.ts';
import { splitEncoded } from './encoded-batch.ts';
import { readText } from './read-column.ts';
import type { CallRow, UsageIncrement } from './call-entry-row.ts';
import type { Database, SqlRow, SqlValue } from './open-database.ts';

/** Entries that one listing may ask for. */
const listedEntriesMax = 10_000;

const insertCall = `insert into calls (${callColumns.join(', ')}) values (${callColumns.map(() => '?').join(', ')}) on conflict (call_id) do nothing`;

const rollUps = [
  { unitMs: 60_000, upsert: createUpsert('usage_minutes', 'minute') },
  { unitMs: 3_600_000, upsert: createUpsert('usage_hours', 'hour') },
];

/** The ledger on a connection. */
export function createLedgerOperations(database: Database): LedgerStoreOperations {
  return {
    appendBatch: (batch) => {
      const rows = splitEncoded(batch).map((text) => encodeCallRow(decodeEntry(JSON.parse(text)), text));
      return database.transact(() => appendRows(database, rows));
    },
    findReplyOwner: (replyId) => {
      const row = database.first('select user_name from calls where reply_id = ?', toStorableText(replyId));
      return row === undefined ? undefined : readText(row, 'user_name');
    },
    findEntry: (callId) => {
      const row = database.first('select * from calls where call_id = ?', toStorableText(callId));
      return row === undefined ? undefined : decodeCallEntry(row);
    },
    listEntries: (filter) => listEntries(database, filter),
  };
}

function appendRows(database: Database, rows: readonly CallRow[]): number {
  let added = 0;
  const sums = rollUps.map(() => new Map<string, RollUpSum>());
  for (const row of rows) {
    if (database.run(insertCall, ...row) === 0) continue;
    added += 1;
    const increment = readIncrement(row);
    if (increment === undefined) continue;
    for (const [index, { unitMs }] of rollUps.entries()) addIncrement(sums[index], Math.floor(increment.acceptedAtMs / unitMs), increment);
  }
  for (const [index, { upsert }] of rollUps.entries()) {
    for (const sum of sums[index]?.values() ?? []) writeSum(database, upsert, sum);
  }
  return added;
}

/** What one batch adds to one row of a roll-up. */
type RollUpSum = { readonly unit: number; readonly names: readonly string[]; readonly callIds: string[]; readonly totals: bigint[] };

function addIncrement(sums: Map<string, RollUpSum> | undefined, unit: number, { names, amounts, callId }: UsageIncrement): void {
  // No name holds the separator: NUL is not storable text.
  const key = `${unit}\0${names[0]}\0${names[1]}\0${names[2]}`;
  const sum = sums?.get(key);
  if (sum === undefined) {
    sums?.set(key, { unit, names, callIds: [callId], totals: [...amounts] });
    return;
  }
  sum.callIds.push(callId);
  for (const [index, amount] of amounts.entries()) sum.totals[index] = (sum.totals[index] ?? 0n) + amount;
}

function writeSum(database: Database, upsert: string, sum: RollUpSum): void {
  try {
    database.run(upsert, BigInt(sum.unit), ...sum.names, ...sum.totals);
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
