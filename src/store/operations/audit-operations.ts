import {
  type AuditedAction,
  type AuditEntry,
  type AuditFilter,
  type AuditHead,
  type AuditStore,
  chainEntry,
} from '../../audit/audit-entry.ts';
import { auditWays, type Change } from '../../audit/change-author.ts';
import { StoreError } from '../store-error.ts';
import type { Database } from './database.ts';
import { readInteger, readOptionalText, readText } from './read-column.ts';
import type { SqlParameter, SqlRow } from './sql-values.ts';

const columns = 'sequence, at_ms, actor, via, action, subject, before_json, after_json, note, address, request_id, hash';

/**
 * Appends a change to the audit log, in the transaction that makes the change.
 * @param transaction the database inside of `transact`
 */
export async function appendAudit(transaction: Database, change: Change, action: AuditedAction): Promise<void> {
  // Locks the head until the transaction ends, so that rows are chained one after the other.
  await transaction.run('update audit_head set sequence = sequence where id = 1');
  await assertExpected(transaction, change, action.subject);
  const entry = chainEntry(await readHead(transaction), change, action);
  const { sequence, atMs, actor, via, subject, before, after, note, address, requestId, hash } = entry;
  await transaction.run(
    `insert into audit_log (${columns}) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    sequence,
    atMs,
    actor,
    via,
    entry.action,
    subject,
    before ?? null,
    after ?? null,
    note ?? null,
    address ?? null,
    requestId ?? null,
    hash,
  );
  await transaction.run('update audit_head set sequence = ?, hash = ? where id = 1', sequence, hash);
}

/** Appends a change of a subject, unless it is the same before and after. */
export async function appendDifference(
  transaction: Database,
  { change, action }: { readonly change: Change; readonly action: string },
  subject: string,
  { before, after }: { readonly before: string | undefined; readonly after: string | undefined },
): Promise<void> {
  if (before === after) return;
  const texts = { ...(before !== undefined && { before }), ...(after !== undefined && { after }) };
  await appendAudit(transaction, change, { action, subject, ...texts });
}

/** The head is locked, so nobody else changes the subject until the transaction ends. */
async function assertExpected(transaction: Database, { expectedVersion }: Change, subject: string): Promise<void> {
  if (expectedVersion === undefined || (await readSubjectVersion(transaction, subject)) === expectedVersion) return;
  throw new StoreError('version-mismatch', `${subject} has changed since the author of this change saw it.`);
}

async function readSubjectVersion(database: Database, subject: string): Promise<number> {
  const row = await database.first('select coalesce(max(sequence), 0) as version from audit_log where subject = ?', subject);
  return row === undefined ? 0 : readInteger(row, 'version');
}

async function readHead(database: Database): Promise<AuditHead> {
  const row = await database.first('select sequence, hash from audit_head where id = 1');
  if (row === undefined) throw new StoreError('corrupt', 'The database lacks the head of the audit log.');
  return { sequence: readInteger(row, 'sequence'), hash: readText(row, 'hash') };
}

/** The SQL that reads the audit log. */
export function createAuditOperations(database: Database): AuditStore {
  return {
    listAudit: (filter) => listAudit(database, filter),
    readAudit: async (after, limit) =>
      (await database.all(`select ${columns} from audit_log where sequence > ? order by sequence limit ?`, after, limit)).map(decodeEntry),
    auditHead: () => readHead(database),
    recordAction: (action, change) => database.transact((transaction) => appendAudit(transaction, change, action)),
    subjectVersion: (subject) => readSubjectVersion(database, subject),
  };
}

async function listAudit(database: Database, filter: AuditFilter): Promise<readonly AuditEntry[]> {
  const conditions: readonly (readonly [string, SqlParameter | undefined])[] = [
    ['actor = ?', filter.actor],
    ['via = ?', filter.via],
    ['action = ?', filter.action],
    ['subject = ?', filter.subject],
    ['at_ms >= ?', filter.fromMs],
    ['at_ms < ?', filter.toMs],
    ['sequence < ?', filter.before],
  ];
  const chosen = conditions.flatMap(([condition, value]) => (value === undefined ? [] : [{ condition, value }]));
  const where = chosen.length === 0 ? '' : `where ${chosen.map(({ condition }) => condition).join(' and ')}`;
  const sql = `select ${columns} from audit_log ${where} order by sequence desc limit ?`;
  return (await database.all(sql, ...chosen.map(({ value }) => value), filter.limit)).map(decodeEntry);
}

function decodeEntry(row: SqlRow): AuditEntry {
  const via = auditWays.find((way) => way === row['via']);
  if (via === undefined) throw new StoreError('corrupt', 'Column via of the audit log is not a known way.');
  const optional = { before: 'before_json', after: 'after_json', note: 'note', address: 'address', requestId: 'request_id' } as const;
  const present = Object.entries(optional).flatMap(([name, column]) => {
    const text = readOptionalText(row, column);
    return text === undefined ? [] : [[name, text] as const];
  });
  return {
    sequence: readInteger(row, 'sequence'),
    atMs: readInteger(row, 'at_ms'),
    actor: readText(row, 'actor'),
    via,
    action: readText(row, 'action'),
    subject: readText(row, 'subject'),
    ...Object.fromEntries(present),
    hash: readText(row, 'hash'),
  };
}
