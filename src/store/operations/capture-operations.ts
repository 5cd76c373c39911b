import type { UserScope } from '../../accounts/people/principal.ts';
import type { Change } from '../../audit/change-author.ts';
import { type Capture, type CapturedCall, captureLimits, type CaptureStore } from '../../content/captures/capture.ts';
import { appendAudit } from './audit-operations.ts';
import type { Database } from './database.ts';
import { namesIn } from './names-in.ts';
import { readBytes, readInteger, readText } from './read-column.ts';
import type { SqlRow } from './sql-values.ts';

const columns = 'id, key_id, key_name, user_name, calls, taken, created_at_ms, until_ms, created_by';

/** The SQL of captures. */
export function createCaptureOperations(database: Database): CaptureStore {
  return {
    insertCapture: (capture, change) => database.transact((transaction) => insertCapture(transaction, capture, change)),
    listCaptures: ({ users, nowMs }) => listCaptures(database, users, nowMs),
    deleteCapture: (id, change) => database.transact((transaction) => deleteCapture(transaction, id, change)),
    openCaptures: async (nowMs) =>
      (await database.all(`select ${columns} from captures where until_ms > ? and taken < calls`, nowMs)).map(decodeCapture),
    keepWires: (call) => database.transact((transaction) => keepWires(transaction, call)),
    findWires: async ({ callId, users, nowMs }) => {
      const row = await database.first(
        'select user_name, sealed from captured_calls where call_id = ? and expires_at_ms > ?',
        callId,
        nowMs,
      );
      if (row === undefined || (users !== 'all' && !users.includes(readText(row, 'user_name')))) return undefined;
      return { sealed: readBytes(row, 'sealed') };
    },
    sweepCaptures: async (nowMs) => {
      const old = nowMs - captureLimits.keepMs;
      // Usually nothing is over; then nothing is written.
      if ((await database.first('select 1 from captured_calls where expires_at_ms <= ? limit 1', nowMs)) !== undefined)
        await database.run('delete from captured_calls where expires_at_ms <= ?', nowMs);
      if ((await database.first('select 1 from captures where until_ms <= ? limit 1', old)) !== undefined)
        await database.run('delete from captures where until_ms <= ?', old);
    },
  };
}

async function insertCapture(transaction: Database, capture: Capture, change: Change): Promise<boolean> {
  const { id, keyId, keyName, userName, calls, taken, createdAtMs, untilMs, createdBy } = capture;
  const key = await transaction.first('select id from api_keys where id = ? and deleted_at_ms is null', keyId);
  const open = await transaction.first('select id from captures where key_id = ? and until_ms > ? and taken < calls', keyId, createdAtMs);
  if (key === undefined || open !== undefined) return false;
  const sql = `insert into captures (${columns}) values (?, ?, ?, ?, ?, ?, ?, ?, ?)`;
  await transaction.run(sql, id, keyId, keyName, userName, calls, taken, createdAtMs, untilMs, createdBy);
  const after = JSON.stringify({ key: keyId, user: userName, calls, until: new Date(untilMs).toISOString() });
  await appendAudit(transaction, change, { action: 'captures.create', subject: `capture:${id}`, after });
  return true;
}

async function listCaptures(database: Database, users: UserScope, nowMs: number): ReturnType<CaptureStore['listCaptures']> {
  if (users !== 'all' && users.length === 0) return [];
  const scope = users === 'all' ? { sql: '1 = 1', parameters: [] } : namesIn('user_name', users);
  const listed = `select ${columns} from captures where until_ms > ? and ${scope.sql} order by created_at_ms desc, id limit 500`;
  const captures = (await database.all(listed, nowMs - captureLimits.keepMs, ...scope.parameters)).map(decodeCapture);
  const calls = `select call_id, capture_id, at_ms, bytes from captured_calls where expires_at_ms > ? and ${scope.sql} order by at_ms desc limit 5000`;
  const kept = (await database.all(calls, nowMs, ...scope.parameters)).map(decodeCall);
  return captures.map((capture) => ({ ...capture, kept: kept.filter(({ captureId }) => captureId === capture.id) }));
}

async function deleteCapture(transaction: Database, id: string, change: Change): Promise<boolean> {
  const row = await transaction.first(`select ${columns} from captures where id = ?`, id);
  if (row === undefined) return false;
  await transaction.run('delete from captured_calls where capture_id = ?', id);
  await transaction.run('delete from captures where id = ?', id);
  const { keyId, userName, taken } = decodeCapture(row);
  const before = JSON.stringify({ key: keyId, user: userName, taken });
  await appendAudit(transaction, change, { action: 'captures.delete', subject: `capture:${id}`, before });
  return true;
}

async function keepWires(transaction: Database, call: Parameters<CaptureStore['keepWires']>[0]): ReturnType<CaptureStore['keepWires']> {
  const { callId, captureId, atMs, nowMs, expiresAtMs, allBytesMax, sealed } = call;
  const row = await transaction.first(`select ${columns} from captures where id = ?`, captureId);
  if (row === undefined) return 'over';
  const capture = decodeCapture(row);
  if (capture.taken >= capture.calls || atMs >= capture.untilMs) return 'over';
  const size = await transaction.first(
    'select coalesce(cast(sum(bytes) as bigint), 0) as bytes from captured_calls where expires_at_ms > ?',
    nowMs,
  );
  if (size !== undefined && readInteger(size, 'bytes') + sealed.length > allBytesMax) return 'full';
  const sql = `insert into captured_calls (call_id, capture_id, user_name, at_ms, expires_at_ms, bytes, sealed)
    values (?, ?, ?, ?, ?, ?, ?) on conflict do nothing`;
  const inserted = await transaction.run(sql, callId, captureId, capture.userName, atMs, expiresAtMs, sealed.length, sealed);
  if (inserted === 1) await transaction.run('update captures set taken = taken + 1 where id = ?', captureId);
  return 'kept';
}

function decodeCapture(row: SqlRow): Capture {
  return {
    id: readText(row, 'id'),
    keyId: readText(row, 'key_id'),
    keyName: readText(row, 'key_name'),
    userName: readText(row, 'user_name'),
    calls: readInteger(row, 'calls'),
    taken: readInteger(row, 'taken'),
    createdAtMs: readInteger(row, 'created_at_ms'),
    untilMs: readInteger(row, 'until_ms'),
    createdBy: readText(row, 'created_by'),
  };
}

function decodeCall(row: SqlRow): CapturedCall {
  return {
    callId: readText(row, 'call_id'),
    captureId: readText(row, 'capture_id'),
    atMs: readInteger(row, 'at_ms'),
    bytes: readInteger(row, 'bytes'),
  };
}
