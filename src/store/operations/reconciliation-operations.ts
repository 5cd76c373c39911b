import {
  reconciliationsKeptMs,
  reconciliationsMax,
  type ReconciliationStore,
  type StoredReconciliation,
} from '../../billing/reconciliation/reconciliation-store.ts';
import { toStorableText } from '../storable-text.ts';
import { appendAudit } from './audit-operations.ts';
import type { Database } from './database.ts';
import { readInteger, readOptionalInteger, readOptionalText, readText } from './read-column.ts';
import { when } from './scoped-list.ts';
import type { SqlRow } from './sql-values.ts';

const columns = `id, created_at_ms, actor, vendor, upstream, kind, time_zone, start_ms, end_ms, tolerance, prices, file_name, file_bytes,
  file_sha256, operation_id, summary, ended_at_ms, note, accepted_at_ms, accepted_by`;

/** The SQL of reconciliations. */
export function createReconciliationOperations(database: Database): ReconciliationStore {
  return {
    insertReconciliation: (added, account) =>
      database.transact(async (transaction) => {
        await sweep(transaction, added.createdAtMs);
        await insert(transaction, added, account);
      }),
    setReconciliationOperation: async (id, operationId) => {
      await database.run('update reconciliations set operation_id = ? where id = ?', operationId, id);
    },
    dropReconciliation: async (id) => {
      await database.run('delete from reconciliations where id = ? and ended_at_ms is null', id);
    },
    findReconciliation: (id) => find(database, id),
    queryReconciliations: async ({ vendor, upstream, fromMs, toMs, after, limit }) => {
      const conditions = [
        when('vendor = ?', vendor === undefined ? undefined : toStorableText(vendor)),
        when('upstream = ?', upstream === undefined ? undefined : toStorableText(upstream)),
        when('end_ms > ?', fromMs),
        when('start_ms < ?', toMs),
        after === undefined
          ? undefined
          : { sql: '(created_at_ms, id) < (?, ?)', parameters: [after.createdAtMs, toStorableText(after.id)] },
      ].filter((condition) => condition !== undefined);
      const where = conditions.length === 0 ? '' : `where ${conditions.map(({ sql }) => sql).join(' and ')}`;
      const sql = `select ${columns} from reconciliations ${where} order by created_at_ms desc, id desc limit ?`;
      return (await database.all(sql, ...conditions.flatMap(({ parameters }) => parameters), limit)).map(decode);
    },
    readReconciliation: async (id) => {
      const row = await database.first('select account, result from reconciliations where id = ?', toStorableText(id));
      if (row === undefined) return undefined;
      const result = readOptionalText(row, 'result');
      return { account: readText(row, 'account'), ...(result !== undefined && { result }) };
    },
    finishReconciliation: async (id, { result, summary, endedAtMs }) => {
      const sql = 'update reconciliations set result = ?, summary = ?, ended_at_ms = ? where id = ?';
      await database.run(sql, result, JSON.stringify(summary), endedAtMs, id);
    },
    changeReconciliation: (id, { note, accepted }, change) =>
      database.transact(async (transaction) => {
        const before = await find(transaction, id);
        if (before === undefined) return false;
        const after: StoredReconciliation = {
          ...without(before, note === undefined ? [] : ['note'], accepted === undefined ? [] : ['accepted']),
          ...(typeof note === 'string' && { note: toStorableText(note) }),
          ...(accepted === true && { accepted: before.accepted ?? { atMs: change.atMs, by: toStorableText(change.actor) } }),
        };
        const sql = 'update reconciliations set note = ?, accepted_at_ms = ?, accepted_by = ? where id = ?';
        await transaction.run(sql, after.note ?? null, after.accepted?.atMs ?? null, after.accepted?.by ?? null, id);
        const states = { before: describe(before), after: describe(after) };
        await appendAudit(transaction, change, { action: 'reconciliations.update', subject: `reconciliation:${id}`, ...states });
        return true;
      }),
  };
}

function without(stored: StoredReconciliation, ...names: readonly (readonly ('note' | 'accepted')[])[]): StoredReconciliation {
  const { note, accepted, ...rest } = stored;
  const gone = names.flat();
  return {
    ...rest,
    ...(note !== undefined && !gone.includes('note') && { note }),
    ...(accepted !== undefined && !gone.includes('accepted') && { accepted }),
  };
}

const describe = ({ note, accepted }: StoredReconciliation): string =>
  JSON.stringify({ note: note ?? null, accepted: accepted !== undefined });

/** Deletes what is too old, and the oldest beyond the greatest number. */
async function sweep(transaction: Database, nowMs: number): Promise<void> {
  await transaction.run('delete from reconciliations where created_at_ms < ?', nowMs - reconciliationsKeptMs);
  const over = 'select id from reconciliations order by created_at_ms desc, id desc limit 100 offset ?';
  await transaction.run(`delete from reconciliations where id in (${over})`, reconciliationsMax - 1);
}

async function insert(transaction: Database, added: StoredReconciliation, account: string): Promise<void> {
  const { id, createdAtMs, actor, vendor, upstream, kind, timeZone, startMs, endMs, tolerance, prices, file } = added;
  const sql = `insert into reconciliations (id, created_at_ms, actor, vendor, upstream, kind, time_zone, start_ms, end_ms, tolerance, prices,
      file_name, file_bytes, file_sha256, account) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
  await transaction.run(
    sql,
    id,
    createdAtMs,
    toStorableText(actor),
    vendor,
    upstream === undefined ? null : toStorableText(upstream),
    kind,
    toStorableText(timeZone),
    Math.floor(startMs),
    Math.ceil(endMs),
    tolerance,
    toStorableText(prices),
    toStorableText(file.name),
    file.bytes,
    file.sha256,
    account,
  );
}

async function find(database: Database, id: string): Promise<StoredReconciliation | undefined> {
  const row = await database.first(`select ${columns} from reconciliations where id = ?`, toStorableText(id));
  return row === undefined ? undefined : decode(row);
}

function decode(row: SqlRow): StoredReconciliation {
  const upstream = readOptionalText(row, 'upstream');
  const operationId = readOptionalText(row, 'operation_id');
  const summary = readOptionalText(row, 'summary');
  const endedAtMs = readOptionalInteger(row, 'ended_at_ms');
  const note = readOptionalText(row, 'note');
  const atMs = readOptionalInteger(row, 'accepted_at_ms');
  return {
    id: readText(row, 'id'),
    createdAtMs: readInteger(row, 'created_at_ms'),
    actor: readText(row, 'actor'),
    vendor: readText(row, 'vendor'),
    ...(upstream !== undefined && { upstream }),
    kind: readText(row, 'kind') === 'costs' ? 'costs' : 'usage',
    timeZone: readText(row, 'time_zone'),
    startMs: readInteger(row, 'start_ms'),
    endMs: readInteger(row, 'end_ms'),
    tolerance: readText(row, 'tolerance'),
    prices: readText(row, 'prices'),
    file: { name: readText(row, 'file_name'), bytes: readInteger(row, 'file_bytes'), sha256: readText(row, 'file_sha256') },
    ...(operationId !== undefined && { operationId }),
    // Written by this file.
    ...(summary !== undefined && { summary: JSON.parse(summary) as NonNullable<StoredReconciliation['summary']> }),
    ...(endedAtMs !== undefined && { endedAtMs }),
    ...(note !== undefined && { note }),
    ...(atMs !== undefined && { accepted: { atMs, by: readOptionalText(row, 'accepted_by') ?? '' } }),
  };
}
