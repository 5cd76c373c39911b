import {
  addRows,
  type ArchivedPlace,
  type ArchivedRow,
  type ArchiveStore,
  type ArchiveSums,
  type CallArchive,
} from '../../billing/archive/call-archive.ts';
import { textOfRow } from '../../billing/archive/open-archive.ts';
import { settlementRowId } from '../../billing/ledger/row-ids.ts';
import { toStorableText } from '../storable-text.ts';
import { StoreError } from '../store-error.ts';
import { readEntryText, selectCalls } from './call-shapes.ts';
import type { Database } from './database.ts';
import { inParts, perRows, valuesOf } from './in-parts.ts';
import { namesIn } from './names-in.ts';
import { isInPage } from './page-of-calls.ts';
import { readBigInt, readInteger, readOptionalInteger, readOptionalText, readText } from './read-column.ts';
import type { SqlRow } from './sql-values.ts';
import { addWide, readWide, toWide } from './wide-amount.ts';

const rowsPerPageMax = 5000;

/**
 * Rows that may be archived. Facts keep their ids, and statistics of cut minutes read them. The newest row stays,
 * because SQLite numbers the next one from it. Rows with impossible figures stay until they are settled.
 */
const archivable = `calls.call_id in (select call_facts.call_id from call_facts where call_facts.call_id = calls.call_id
      and call_facts.number < (select max(number) from call_facts))
    and (calls.disputed = 0 or exists (select 1 from calls as settled where settled.call_id = calls.call_id || cast(? as text)))`;
const suffix = settlementRowId('');

/** The SQL of archives of calls. */
export function createArchiveOperations(database: Database): ArchiveStore {
  return {
    listArchives: async () => (await database.all('select * from call_archives order by from_ms, verified_at_ms, id')).map(decodeArchive),
    oldestArchivable: async (beforeMs) => {
      const sql = `select accepted_at_ms from calls where accepted_at_ms < ? and ${archivable} order by accepted_at_ms limit 1`;
      const row = await database.first(sql, beforeMs, suffix);
      return row === undefined ? undefined : readInteger(row, 'accepted_at_ms');
    },
    listArchivable: (page) => listArchivable(database, page),
    claimArchiving: async ({ owner, nowMs, untilMs }) => {
      const sql =
        'update call_retention set owner = ?, lease_until_ms = ? where id = 1 and (owner = ? or owner is null or lease_until_ms <= ?)';
      return (await database.run(sql, owner, untilMs, owner, nowMs)) === 1;
    },
    releaseArchiving: async (owner) => {
      await database.run('update call_retention set owner = null, lease_until_ms = 0 where id = 1 and owner = ?', owner);
    },
    keepArchive: (archive, owner) =>
      database.transact(async (transaction) => {
        await lockFor(transaction, owner);
        const { id, fromMs, untilMs, bytes, sha256, sums, dropped, verifiedAtMs } = archive;
        await transaction.run(
          `insert into call_archives (id, from_ms, until_ms, state, bytes, sha256, sums, dropped, verified_at_ms)
            values (?, ?, ?, 'verified', ?, ?, ?, ?, ?)`,
          id,
          fromMs,
          untilMs,
          bytes,
          sha256,
          encodeSums(sums),
          encodeSums(dropped),
          verifiedAtMs,
        );
        await transaction.run('update call_retention set archived_until_ms = ? where id = 1 and archived_until_ms < ?', untilMs, untilMs);
      }, 'read-committed'),
    dropArchived: (drop) => database.transact((transaction) => dropArchived(transaction, drop), 'read-committed'),
    endArchive: ({ id, owner, atMs }) =>
      database.transact(async (transaction) => {
        await lockFor(transaction, owner);
        const archive = await findArchive(transaction, id);
        if (archive.dropped.rows !== archive.sums.rows)
          throw new StoreError('corrupt', `Of the ${archive.sums.rows} rows of archive ${id}, ${archive.dropped.rows} were dropped.`);
        await transaction.run("update call_archives set state = 'dropped', dropped_at_ms = ? where id = ?", atMs, id);
      }, 'read-committed'),
    listArchivedPlaces: (callIds) => listArchivedPlaces(database, callIds),
    archivedUntilMs: () => readArchivedUntil(database),
    findTransactions: async (ids) => {
      if (ids.length === 0) return [];
      const named = namesIn('transaction_id', ids.map(toStorableText));
      const sql = `select transaction_id, posted_at_ms, amount_kusd, amount_nano from ledger_transactions where ${named.sql} order by transaction_id`;
      return (await database.all(sql, ...named.parameters)).map((row) => ({
        transactionId: readText(row, 'transaction_id'),
        postedAtMs: readInteger(row, 'posted_at_ms'),
        amountNanoUsd: readWide(row, 'amount'),
      }));
    },
  };
}

/** Keeps other archiving processes away until the transaction ends. */
async function lockFor(transaction: Database, owner: string): Promise<void> {
  const sql = `select owner from call_retention where id = 1 ${transaction.fragments.forUpdate('call_retention')}`;
  const row = await transaction.first(sql);
  if (row !== undefined && readOptionalText(row, 'owner') === owner) return;
  throw new StoreError('constraint', 'Another process archives calls.');
}

async function findArchive(transaction: Database, id: string): Promise<CallArchive> {
  const row = await transaction.first('select * from call_archives where id = ?', id);
  if (row === undefined) throw new StoreError('constraint', `There is no archive ${id}.`);
  return decodeArchive(row);
}

async function listArchivable(
  database: Database,
  { limit, ...page }: Parameters<ArchiveStore['listArchivable']>[0],
): Promise<readonly ArchivedRow[]> {
  if (!Number.isInteger(limit) || limit < 1 || limit > rowsPerPageMax)
    throw new StoreError('constraint', `The limit of a page must be from 1 to ${rowsPerPageMax}; got ${limit}.`);
  const { sql: condition, parameters } = isInPage(page);
  const sql = `${selectCalls} where ${condition} and ${archivable} order by accepted_at_ms, call_id limit ?`;
  return (await database.all(sql, ...parameters, suffix, limit)).map(decodeRow);
}

type Drop = Parameters<ArchiveStore['dropArchived']>[0];

async function dropArchived(transaction: Database, { id, owner, rows }: Drop): Promise<number> {
  if (rows.length === 0) return 0;
  await lockFor(transaction, owner);
  const archive = await findArchive(transaction, id);
  if (archive.state !== 'verified') throw new StoreError('constraint', `All rows of archive ${id} were dropped already.`);
  const ids = namesIn(
    'calls.call_id',
    rows.map((row) => toStorableText(row.callId)),
  );
  const stored = new Map(
    (await transaction.all(`${selectCalls} where ${ids.sql}`, ...ids.parameters)).map((row) => [readText(row, 'call_id'), decodeRow(row)]),
  );
  const present = rows.filter((row) => stored.has(toStorableText(row.callId)));
  for (const row of present) {
    const kept = stored.get(toStorableText(row.callId));
    if (kept === undefined || textOfRow(kept) === textOfRow(row)) continue;
    throw new StoreError('corrupt', `Row ${row.callId} of archive ${id} differs from the ledger; nothing was dropped.`);
  }
  if (present.length === 0) return 0;
  await keepSpend(transaction, present);
  const dropping = namesIn(
    'call_id',
    present.map((row) => toStorableText(row.callId)),
  );
  const count = await transaction.run(`delete from calls where ${dropping.sql}`, ...dropping.parameters);
  if (count !== present.length) throw new StoreError('internal', `Of ${present.length} rows, ${count} were dropped.`);
  await transaction.run('update call_archives set dropped = ? where id = ?', encodeSums(addRows(archive.dropped, present)), id);
  return count;
}

const insertSpend = perRows(
  (count) => `insert into archived_spend (transaction_id, cost_kusd, cost_nano) ${valuesOf('(?, ?, ?)', count)}
    on conflict (transaction_id) do update set ${addWide('archived_spend', 'cost')}`,
);

/** The books compare each transaction with the cost of its calls. */
async function keepSpend(transaction: Database, rows: readonly ArchivedRow[]): Promise<void> {
  const costs = new Map<string, bigint>();
  for (const { transactionId, amountNanoUsd } of rows)
    if (transactionId !== undefined) costs.set(transactionId, (costs.get(transactionId) ?? 0n) + amountNanoUsd);
  for (const part of inParts([...costs], [16, 4, 1]))
    await transaction.run(insertSpend(part.length), ...part.flatMap(([transactionId, cost]) => [transactionId, ...toWide(cost)]));
}

/** See ArchiveStore. */
export async function readArchivedUntil(database: Database): Promise<number> {
  const row = await database.first('select archived_until_ms from call_retention where id = 1');
  return row === undefined ? 0 : readInteger(row, 'archived_until_ms');
}

/** See ArchiveStore. */
export async function listArchivedPlaces(database: Database, callIds: readonly string[]): Promise<readonly ArchivedPlace[]> {
  if (callIds.length === 0) return [];
  const named = namesIn('call_facts.call_id', callIds.map(toStorableText));
  const sql = `select call_id, at_ms from call_facts where ${named.sql}
    and at_ms < (select archived_until_ms from call_retention)
    and not exists (select 1 from calls where calls.call_id = call_facts.call_id)`;
  return (await database.all(sql, ...named.parameters)).map((row) => ({
    callId: readText(row, 'call_id'),
    atMs: readInteger(row, 'at_ms'),
  }));
}

function decodeRow(row: SqlRow): ArchivedRow {
  return {
    callId: readText(row, 'call_id'),
    acceptedAtMs: readInteger(row, 'accepted_at_ms'),
    userName: readText(row, 'user_name'),
    keyId: readOptionalText(row, 'key_id'),
    keyName: readText(row, 'key_name'),
    requestedModel: readText(row, 'requested_model'),
    amountNanoUsd: readBigInt(row, 'amount_nano_usd'),
    billed: readInteger(row, 'billed'),
    promptTokens: readBigInt(row, 'prompt_tokens'),
    completionTokens: readBigInt(row, 'completion_tokens'),
    cacheTokens: readBigInt(row, 'cache_tokens'),
    cacheCreationTokens: readBigInt(row, 'cache_creation_tokens'),
    useTimeMs: readBigInt(row, 'use_time_ms'),
    replyId: readOptionalText(row, 'reply_id'),
    heldPots: readOptionalInteger(row, 'held_pots'),
    transactionId: readOptionalText(row, 'transaction_id'),
    disputed: readInteger(row, 'disputed'),
    unpriced: readInteger(row, 'unpriced'),
    entry: readEntryText(row),
  };
}

/** The sums as JSON: amounts and counts as decimal texts. */
const encodeSums = (sums: ArchiveSums): string =>
  JSON.stringify(sums, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));

/** The sums of a row of call_archives. @throws StoreError `corrupt` */
export function readSums(row: SqlRow, column: 'sums' | 'dropped'): ArchiveSums {
  const found = JSON.parse(readText(row, column)) as Record<keyof ArchiveSums, number | string>;
  return {
    rows: Number(found.rows),
    billedCalls: Number(found.billedCalls),
    amountNanoUsd: BigInt(found.amountNanoUsd),
    billedNanoUsd: BigInt(found.billedNanoUsd),
    promptTokens: BigInt(found.promptTokens),
    completionTokens: BigInt(found.completionTokens),
  };
}

function decodeArchive(row: SqlRow): CallArchive {
  const state = readText(row, 'state');
  if (state !== 'verified' && state !== 'dropped') throw new StoreError('corrupt', 'Column state of call_archives is not a known state.');
  const droppedAtMs = readOptionalInteger(row, 'dropped_at_ms');
  return {
    id: readText(row, 'id'),
    fromMs: readInteger(row, 'from_ms'),
    untilMs: readInteger(row, 'until_ms'),
    state,
    bytes: readInteger(row, 'bytes'),
    sha256: readText(row, 'sha256'),
    sums: readSums(row, 'sums'),
    dropped: readSums(row, 'dropped'),
    verifiedAtMs: readInteger(row, 'verified_at_ms'),
    ...(droppedAtMs === undefined ? {} : { droppedAtMs }),
  };
}
