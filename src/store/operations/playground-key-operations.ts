import type { ListedPlaygroundKey, PlaygroundKey, PlaygroundKeyStore } from '../../accounts/people/playground-key-store.ts';
import type { Change } from '../../audit/change-author.ts';
import { changeKey, setColumn } from './api-key-row.ts';
import type { Database } from './database.ts';
import { readBytes, readInteger, readText } from './read-column.ts';
import type { SqlRow } from './sql-values.ts';

/** The SQL of the keys of the playground. */
export function createPlaygroundKeyOperations(database: Database): PlaygroundKeyStore {
  return {
    insertPlaygroundKey: (key, keysMax) => database.transact((transaction) => insertKey(transaction, key, keysMax)),
    listPlaygroundKeys: async (sessionId, nowMs) => {
      const sql = `select playground_keys.key_id, playground_keys.session_id, playground_keys.created_at_ms, playground_keys.expires_at_ms,
          playground_keys.sealed, api_keys.name, users.name as user_name
        from playground_keys join api_keys on api_keys.id = playground_keys.key_id join users on users.id = api_keys.user_id
        where playground_keys.session_id = ? and playground_keys.expires_at_ms > ?
          and api_keys.deleted_at_ms is null and api_keys.disabled_at_ms is null
        order by playground_keys.created_at_ms desc, playground_keys.key_id`;
      return (await database.all(sql, sessionId, nowMs)).map(decodeKey);
    },
    endPlaygroundKey: ({ keyId, sessionId }, change) =>
      database.transact(async (transaction) => {
        const row = await transaction.first('select key_id from playground_keys where key_id = ? and session_id = ?', keyId, sessionId);
        if (row === undefined) return false;
        await endKey(transaction, keyId, change);
        return true;
      }),
    sweepPlaygroundKeys: async (idleBeforeMs, change) => {
      // Usually there is no key; then nothing is written.
      if ((await database.first('select key_id from playground_keys limit 1')) === undefined) return 0;
      return await database.transact(async (transaction) => {
        await transaction.run('delete from console_sessions where expires_at_ms <= ? or used_at_ms < ?', change.atMs, idleBeforeMs);
        return await endKeysWithoutSession(transaction, change);
      });
    },
  };
}

async function insertKey(transaction: Database, key: PlaygroundKey, keysMax: number): Promise<boolean> {
  const { keyId, sessionId, createdAtMs, expiresAtMs, sealed } = key;
  if ((await transaction.first('select id from console_sessions where id = ?', sessionId)) === undefined) return false;
  const sql = `select playground_keys.key_id from playground_keys join api_keys on api_keys.id = playground_keys.key_id
    where playground_keys.session_id = ? and playground_keys.expires_at_ms > ? and api_keys.deleted_at_ms is null`;
  if ((await transaction.all(sql, sessionId, createdAtMs)).length >= keysMax) return false;
  const insert = 'insert into playground_keys (key_id, session_id, created_at_ms, expires_at_ms, sealed) values (?, ?, ?, ?, ?)';
  await transaction.run(insert, keyId, sessionId, createdAtMs, expiresAtMs, sealed);
  return true;
}

/**
 * Deletes the keys of sessions that do not exist any more, and keys that have expired. Part of each transaction that
 * ends sessions, so that no key is valid after its session.
 * @returns the number of keys
 */
export async function endKeysWithoutSession(transaction: Database, change: Change): Promise<number> {
  const sql = `select key_id from playground_keys where expires_at_ms <= ? or not exists
    (select 1 from console_sessions where console_sessions.id = playground_keys.session_id) order by key_id`;
  const rows = await transaction.all(sql, change.atMs);
  for (const row of rows) await endKey(transaction, readText(row, 'key_id'), change);
  return rows.length;
}

async function endKey(transaction: Database, keyId: string, { expectedVersion: _ofSession, ...change }: Change): Promise<void> {
  await changeKey(transaction, keyId, { change, action: 'keys.delete' }, setColumn('deleted_at_ms', keyId, change.atMs));
  await transaction.run('delete from playground_keys where key_id = ?', keyId);
}

function decodeKey(row: SqlRow): ListedPlaygroundKey {
  return {
    keyId: readText(row, 'key_id'),
    sessionId: readText(row, 'session_id'),
    name: readText(row, 'name'),
    userName: readText(row, 'user_name'),
    createdAtMs: readInteger(row, 'created_at_ms'),
    expiresAtMs: readInteger(row, 'expires_at_ms'),
    sealed: readBytes(row, 'sealed'),
  };
}
