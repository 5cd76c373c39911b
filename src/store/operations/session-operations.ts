import type { Change } from '../../audit/change-author.ts';
import type { Person } from '../../accounts/people/person.ts';
import { type FoundSession, type Session, signInWays } from '../../accounts/people/session.ts';
import type { SessionOpening, SessionStore, SignInChange } from '../../accounts/people/session-store.ts';
import { StoreError } from '../store-error.ts';
import { appendAudit } from './audit-operations.ts';
import type { Database } from './database.ts';
import { findPerson } from './find-person.ts';
import { endKeysWithoutSession } from './playground-key-operations.ts';
import { readInteger, readOptionalText, readText } from './read-column.ts';
import type { SqlRow } from './sql-values.ts';

const sessionColumns = 'id, person_id, way, created_at_ms, signed_in_at_ms, token_since_ms, used_at_ms, expires_at_ms, address, user_agent';
const selectSessions = `select ${sessionColumns}, previous_until_ms from console_sessions`;

/** The most sessions of one person; a further one ends the oldest. */
const sessionsMax = 50;

/** The SQL of sessions and sign-in codes. */
export function createSessionOperations(database: Database): SessionStore {
  return {
    insertSignInCode: ({ hash, personId, createdAtMs, expiresAtMs }, change) =>
      database.transact(async (transaction) => {
        const person = await findPerson(transaction, { id: personId });
        if (person === undefined || person.disabledAtMs !== undefined) return false;
        await transaction.run('delete from sign_in_codes where expires_at_ms <= ?', createdAtMs);
        const sql = 'insert into sign_in_codes (hash, person_id, created_at_ms, expires_at_ms) values (?, ?, ?, ?)';
        await transaction.run(sql, hash, personId, createdAtMs, expiresAtMs);
        await appendAudit(transaction, change, { action: 'people.link', subject: `person:${personId}` });
        return true;
      }),
    openSession: (opening, change) => openSession(database, opening, change),
    findSession: (tokenHash) => findSession(database, tokenHash),
    replaceSessionToken: async ({ sessionId, tokenHash, tokenSinceMs, previousUntilMs, presentHash }) => {
      const sql = `update console_sessions set previous_hash = token_hash, previous_until_ms = ?, token_hash = ?, token_since_ms = ?
        where id = ? and token_hash = coalesce(cast(? as text), token_hash)`;
      return (await database.run(sql, previousUntilMs, tokenHash, tokenSinceMs, sessionId, presentHash ?? null)) > 0;
    },
    confirmSession: ({ sessionId, signedInAtMs, codeHash }, change) =>
      database.transact(async (transaction) => {
        const row = await transaction.first(`${selectSessions} where id = ?`, sessionId);
        if (row === undefined) return false;
        const { personId } = decodeSession(row);
        if (codeHash !== undefined && (await usePersonOfCode(transaction, codeHash, signedInAtMs, personId)) === undefined) return false;
        await transaction.run('update console_sessions set signed_in_at_ms = ? where id = ?', signedInAtMs, sessionId);
        await appendAudit(transaction, change, { action: 'sessions.confirm', subject: `person:${personId}` });
        return true;
      }),
    noteSessionUse: async ({ sessionId, usedAtMs }) => {
      const sql = 'update console_sessions set used_at_ms = ? where id = ? and used_at_ms < ?';
      await database.run(sql, usedAtMs, sessionId, usedAtMs);
    },
    listSessions: async (personId) =>
      (await database.all(`${selectSessions} where person_id = ? order by created_at_ms desc, id desc`, personId)).map(decodeSession),
    endSessions: (ended, change) => endSessions(database, ended, change),
  };
}

async function openSession(database: Database, opening: SessionOpening, change: SignInChange): Promise<Person | undefined> {
  const { session, tokenHash, by, idleBeforeMs } = opening;
  return await database.transact(async (transaction) => {
    const personId = 'personId' in by ? by.personId : await usePersonOfCode(transaction, by.codeHash, change.atMs);
    const person = personId === undefined ? undefined : await findPerson(transaction, { id: personId });
    if (person === undefined || person.disabledAtMs !== undefined) return undefined;
    await transaction.run('delete from console_sessions where expires_at_ms <= ? or used_at_ms < ?', change.atMs, idleBeforeMs);
    const oldest = 'select id from console_sessions where person_id = ? order by created_at_ms desc, id desc limit 1000 offset ?';
    for (const row of await transaction.all(oldest, person.id, sessionsMax - 1))
      await transaction.run('delete from console_sessions where id = ?', readText(row, 'id'));
    const { id, way, createdAtMs, signedInAtMs, tokenSinceMs, usedAtMs, expiresAtMs, address, userAgent } = session;
    const sql = `insert into console_sessions (${sessionColumns}, token_hash) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
    const times = [createdAtMs, signedInAtMs, tokenSinceMs, usedAtMs, expiresAtMs] as const;
    await transaction.run(sql, id, person.id, way, ...times, address ?? null, userAgent ?? null, tokenHash);
    const after = JSON.stringify({ id, way, expiresAtMs, userAgent });
    const author = { ...change, actor: `person:${person.name}` };
    await appendAudit(transaction, author, { action: 'sessions.create', subject: `person:${person.id}`, after });
    // Sessions that were over are gone.
    await endKeysWithoutSession(transaction, author);
    return person;
  });
}

/** Uses up a code, and returns its person; undefined if it is unknown, has expired, or is another person's. */
async function usePersonOfCode(transaction: Database, codeHash: string, nowMs: number, onlyPersonId?: string): Promise<string | undefined> {
  const row = await transaction.first('select person_id, expires_at_ms from sign_in_codes where hash = ?', codeHash);
  if (row === undefined) return undefined;
  const personId = readText(row, 'person_id');
  if (onlyPersonId !== undefined && personId !== onlyPersonId) return undefined;
  // Of several uses at once, one deletes the row.
  if ((await transaction.run('delete from sign_in_codes where hash = ?', codeHash)) === 0) return undefined;
  return readInteger(row, 'expires_at_ms') > nowMs ? personId : undefined;
}

async function findSession(database: Database, tokenHash: string): Promise<FoundSession | undefined> {
  const present = await database.first(`${selectSessions} where token_hash = ?`, tokenHash);
  const row = present ?? (await database.first(`${selectSessions} where previous_hash = ?`, tokenHash));
  if (row === undefined) return undefined;
  const session = decodeSession(row);
  const person = await findPerson(database, { id: session.personId });
  if (person === undefined) return undefined;
  return { session, person, ...(present === undefined ? { previousUntilMs: readInteger(row, 'previous_until_ms') } : {}) };
}

async function endSessions(
  database: Database,
  { personId, sessionId, exceptSessionId }: Parameters<SessionStore['endSessions']>[0],
  change: Change,
): Promise<number> {
  return await database.transact(async (transaction) => {
    const sql = `delete from console_sessions where person_id = ? and id = coalesce(cast(? as text), id) and id <> ?`;
    const ended = await transaction.run(sql, personId, sessionId ?? null, exceptSessionId ?? '');
    const after = JSON.stringify({ ended, ...(sessionId === undefined ? {} : { sessionId }) });
    if (ended > 0) await appendAudit(transaction, change, { action: 'sessions.end', subject: `person:${personId}`, after });
    if (ended > 0) await endKeysWithoutSession(transaction, change);
    return ended;
  });
}

function decodeSession(row: SqlRow): Session {
  const way = signInWays.find((each) => each === row['way']);
  if (way === undefined) throw new StoreError('corrupt', 'Column way of console_sessions is not a known way.');
  const address = readOptionalText(row, 'address');
  const userAgent = readOptionalText(row, 'user_agent');
  return {
    id: readText(row, 'id'),
    personId: readText(row, 'person_id'),
    way,
    createdAtMs: readInteger(row, 'created_at_ms'),
    signedInAtMs: readInteger(row, 'signed_in_at_ms'),
    tokenSinceMs: readInteger(row, 'token_since_ms'),
    usedAtMs: readInteger(row, 'used_at_ms'),
    expiresAtMs: readInteger(row, 'expires_at_ms'),
    ...(address === undefined ? {} : { address }),
    ...(userAgent === undefined ? {} : { userAgent }),
  };
}
