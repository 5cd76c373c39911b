import type { IdempotencyStore, KeyClaim, KeyHolder, ReplyChunk } from '../../billing/idempotency/idempotency-store.ts';
import { StoreError } from '../store-error.ts';
import type { Database } from './database.ts';
import type { SqlRow } from './sql-values.ts';
import { readBytes, readInteger, readText } from './read-column.ts';

const open = 0;
const kept = 1;
const spent = 2;

const held = 'key_id = ? and idempotency_key = ? and request_id = ? and state = 0';
const insertClaim = `insert into idempotency_keys
    (key_id, idempotency_key, body_hash, request_id, owner, created_at_ms, expires_at_ms, lease_until_ms)
  values (?, ?, ?, ?, ?, ?, ?, ?)
  on conflict (key_id, idempotency_key) do nothing`;
const selectHolder = `select body_hash, request_id, state, created_at_ms, lease_until_ms, chunks, head from idempotency_keys
  where key_id = ? and idempotency_key = ? and expires_at_ms > ?`;
/** A key may be swept between two statements. */
const attemptsMax = 3;

/**
 * The SQL of idempotency keys and their replies. Every statement has its own condition, so that no transaction must be
 * repeated because of others.
 */
export function createIdempotencyOperations(database: Database): IdempotencyStore {
  return {
    claimIdempotencyKey: async (claim) => {
      // Most repeated requests want the reply; reading it needs no lock.
      const holder = await findHolder(database, claim);
      return holder ?? (await database.transact((transaction) => claimKey(transaction, claim), 'read-committed'));
    },
    addReplyChunks: (holder, chunks) =>
      database.transact(async (transaction) => {
        if (await holds(transaction, holder)) await insertChunks(transaction, holder.requestId, chunks);
      }, 'read-committed'),
    closeIdempotencyKey: (ending) =>
      database.transact(async (transaction) => {
        const { keyId, key, requestId, last } = ending;
        const sql = `update idempotency_keys set state = ?, head = ?, chunks = ? where ${held}`;
        const end = ending.kept === undefined ? ([spent, null, 0] as const) : ([kept, ending.kept.head, ending.kept.chunks] as const);
        if ((await transaction.run(sql, ...end, keyId, key, requestId)) === 0) return false;
        if (ending.kept === undefined) await deleteChunks(transaction, requestId);
        else await insertChunks(transaction, requestId, last);
        return true;
      }, 'read-committed'),
    releaseIdempotencyKey: ({ keyId, key, requestId }) =>
      database.transact(async (transaction) => {
        const sql = `delete from idempotency_keys where ${held}`;
        if ((await transaction.run(sql, keyId, key, requestId)) > 0) await deleteChunks(transaction, requestId);
      }, 'read-committed'),
    renewIdempotencyKeys: async ({ owner, untilMs }) => {
      await database.run('update idempotency_keys set lease_until_ms = ? where owner = ? and state = 0', untilMs, owner);
    },
    readReplyChunk: async ({ keyId, key, requestId }, sequence) => {
      const sql = `select body from idempotency_chunks join idempotency_keys on idempotency_keys.request_id = idempotency_chunks.request_id
        where idempotency_chunks.request_id = ? and sequence = ? and key_id = ? and idempotency_key = ? and state = 1`;
      const row = await database.first(sql, requestId, sequence, keyId, key);
      return row === undefined ? undefined : readBytes(row, 'body');
    },
    endIdempotencyLeases: async ({ ownerPrefix, except }) => {
      const sql = 'update idempotency_keys set lease_until_ms = 0 where state = 0 and owner <> ? and substr(owner, 1, ?) = ?';
      await database.run(sql, except, ownerPrefix.length, ownerPrefix);
    },
    measureReplies: async () => {
      const sql = `select key_id, sum(length(body)) as bytes from idempotency_keys
        join idempotency_chunks on idempotency_chunks.request_id = idempotency_keys.request_id group by key_id`;
      return (await database.all(sql)).map((row) => ({ keyId: readText(row, 'key_id'), bytes: readInteger(row, 'bytes') }));
    },
    sweepIdempotencyKeys: ({ nowMs, rowsMax }) => database.transact((transaction) => sweep(transaction, nowMs, rowsMax), 'read-committed'),
  };
}

async function claimKey(database: Database, claim: KeyClaim): Promise<KeyHolder | undefined> {
  const { keyId, key, bodyHash, requestId, owner, createdAtMs, expiresAtMs, leaseUntilMs } = claim;
  const expired = 'delete from idempotency_keys where key_id = ? and idempotency_key = ? and expires_at_ms <= ? returning request_id';
  for (let tries = 0; tries < attemptsMax; tries += 1) {
    const over = await database.first(expired, keyId, key, createdAtMs);
    if (over !== undefined) await deleteChunks(database, readText(over, 'request_id'));
    const row = [keyId, key, bodyHash, requestId, owner, createdAtMs, expiresAtMs, leaseUntilMs] as const;
    if ((await database.run(insertClaim, ...row)) > 0) return undefined;
    const holder = await findHolder(database, claim);
    if (holder !== undefined) return holder;
  }
  throw new StoreError('busy', 'An idempotency key was claimed and released repeatedly at the same time.');
}

async function findHolder(database: Database, { keyId, key, createdAtMs }: KeyClaim): Promise<KeyHolder | undefined> {
  const row = await database.first(selectHolder, keyId, key, createdAtMs);
  return row === undefined ? undefined : decodeHolder(row);
}

async function holds(database: Database, { keyId, key, requestId }: Parameters<IdempotencyStore['addReplyChunks']>[0]): Promise<boolean> {
  return (await database.first(`select 1 from idempotency_keys where ${held}`, keyId, key, requestId)) !== undefined;
}

async function insertChunks(database: Database, requestId: string, chunks: readonly ReplyChunk[]): Promise<void> {
  const sql = `insert into idempotency_chunks (request_id, sequence, body) values (?, ?, ?) on conflict (request_id, sequence) do nothing`;
  for (const { sequence, sealed } of chunks) await database.run(sql, requestId, sequence, sealed);
}

async function deleteChunks(database: Database, requestId: string): Promise<void> {
  await database.run('delete from idempotency_chunks where request_id = ?', requestId);
}

async function sweep(database: Database, nowMs: number, rowsMax: number): Promise<number> {
  const sql = 'select key_id, idempotency_key, request_id from idempotency_keys where expires_at_ms <= ? order by expires_at_ms limit ?';
  const rows = await database.all(sql, nowMs, rowsMax);
  const deletion = 'delete from idempotency_keys where key_id = ? and idempotency_key = ? and request_id = ? and expires_at_ms <= ?';
  for (const row of rows) {
    const requestId = readText(row, 'request_id');
    await database.run(deletion, readText(row, 'key_id'), readText(row, 'idempotency_key'), requestId, nowMs);
    await deleteChunks(database, requestId);
  }
  return rows.length;
}

function decodeHolder(row: SqlRow): KeyHolder {
  const common = {
    bodyHash: readText(row, 'body_hash'),
    requestId: readText(row, 'request_id'),
    createdAtMs: readInteger(row, 'created_at_ms'),
  };
  const state = readInteger(row, 'state');
  if (state === open) return { ...common, state: 'open', leaseUntilMs: readInteger(row, 'lease_until_ms') };
  if (state === kept) return { ...common, state: 'kept', head: readBytes(row, 'head'), chunks: readInteger(row, 'chunks') };
  return { ...common, state: 'spent' };
}
