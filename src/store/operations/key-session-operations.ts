import { type KeySession, keySignInWays } from '../../accounts/people/keys/key-session.ts';
import type { KeySessionStore } from '../../accounts/people/keys/key-session-store.ts';
import { StoreError } from '../store-error.ts';
import { appendAudit } from './audit-operations.ts';
import type { Database } from './database.ts';
import { readInteger, readOptionalText, readText } from './read-column.ts';
import type { SqlRow } from './sql-values.ts';

const columns = 'id, way, holder_id, secret_hash, holder_version, created_at_ms, expires_at_ms, address, user_agent';

/** The most sessions of one key or token; a further one ends the oldest. */
const sessionsMax = 50;

/**
 * The SQL of sessions of keys and tokens. Their rows of the audit log have a subject of their own, because rows about
 * the key would change its version.
 */
export function createKeySessionOperations(database: Database): KeySessionStore {
  return {
    openKeySession: ({ tokenHash, ...session }, change) =>
      database.transact(async (transaction) => {
        const { id, way, holderId, secretHash, holderVersion, createdAtMs, expiresAtMs, address, userAgent } = session;
        await transaction.run('delete from key_sessions where expires_at_ms <= ?', change.atMs);
        const oldest = `select id from key_sessions where way = ? and holder_id = ? order by created_at_ms desc, id desc limit 1000 offset ?`;
        for (const row of await transaction.all(oldest, way, holderId, sessionsMax - 1))
          await transaction.run('delete from key_sessions where id = ?', readText(row, 'id'));
        const sql = `insert into key_sessions (${columns}, token_hash) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
        const values = [id, way, holderId, secretHash, holderVersion, createdAtMs, expiresAtMs] as const;
        await transaction.run(sql, ...values, address ?? null, userAgent ?? null, tokenHash);
        const after = JSON.stringify({ id, way, expiresAtMs, userAgent });
        await appendAudit(transaction, change, { action: 'sessions.create', subject: `key_session:${holderId}`, after });
      }),
    findKeySession: async (tokenHash) => {
      const row = await database.first(`select ${columns} from key_sessions where token_hash = ?`, tokenHash);
      return row === undefined ? undefined : decodeSession(row);
    },
    endKeySessions: ({ way, holderId, sessionId }, change) =>
      database.transact(async (transaction) => {
        const sql = 'delete from key_sessions where way = ? and holder_id = ? and id = coalesce(cast(? as text), id)';
        const ended = await transaction.run(sql, way, holderId, sessionId ?? null);
        const after = JSON.stringify({ ended, ...(sessionId === undefined ? {} : { sessionId }) });
        if (ended > 0) await appendAudit(transaction, change, { action: 'sessions.end', subject: `key_session:${holderId}`, after });
        return ended;
      }),
  };
}

function decodeSession(row: SqlRow): KeySession {
  const way = keySignInWays.find((each) => each === row['way']);
  if (way === undefined) throw new StoreError('corrupt', 'Column way of key_sessions is not a known way.');
  const address = readOptionalText(row, 'address');
  const userAgent = readOptionalText(row, 'user_agent');
  return {
    id: readText(row, 'id'),
    way,
    holderId: readText(row, 'holder_id'),
    secretHash: readText(row, 'secret_hash'),
    holderVersion: readInteger(row, 'holder_version'),
    createdAtMs: readInteger(row, 'created_at_ms'),
    expiresAtMs: readInteger(row, 'expires_at_ms'),
    ...(address === undefined ? {} : { address }),
    ...(userAgent === undefined ? {} : { userAgent }),
  };
}
