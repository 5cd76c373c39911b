import { isPermission } from '../../accounts/people/permissions.ts';
import type { Change } from '../../audit/change-author.ts';
import {
  type ClaimedOperation,
  type LongOperation,
  type NewOperation,
  type OperationQuery,
  operationStates,
  type OperationStore,
} from '../../control/operations/long-operation.ts';
import { StoreError } from '../store-error.ts';
import { toStorableText } from '../storable-text.ts';
import { appendAudit } from './audit-operations.ts';
import type { Database } from './database.ts';
import { namesIn } from './names-in.ts';
import { readInteger, readOptionalInteger, readOptionalText, readText } from './read-column.ts';
import type { SqlRow } from './sql-values.ts';

const columns = `id, kind, state, permission, actor, input, progress, result, problem, is_cancelling, version, attempts,
  created_at_ms, started_at_ms, ended_at_ms`;

/** The SQL of long operations. */
export function createLongOperationOperations(database: Database): OperationStore {
  return {
    insertOperation: (operation, openMax, change) => database.transact((transaction) => insert(transaction, operation, openMax, change)),
    findOperation: (id) => find(database, id),
    listOperations: async ({ keptUntilMs, limit }) => {
      const sql = `select ${columns} from operations where ended_at_ms is null or keep_until_ms >= ? order by created_at_ms desc, id limit ?`;
      return (await database.all(sql, keptUntilMs, limit)).map(decode);
    },
    queryOperations: (query) => list(database, query),
    claimOperation: async ({ kinds, owner, nowMs, leaseUntilMs }) => {
      if (kinds.length === 0) return undefined;
      const { sql, parameters } = namesIn('kind', kinds);
      const free = `from operations where ended_at_ms is null and lease_until_ms <= ? and ${sql}`;
      // Usually there is nothing to do; this query avoids a transaction that would block others.
      if ((await database.first(`select 1 ${free} limit 1`, nowMs, ...parameters)) === undefined) return undefined;
      return await database.transact(async (transaction) => {
        const lock = transaction.fragments.forUpdateOfFree('operations');
        const oldest = `select id ${free} order by created_at_ms, id limit 1 ${lock}`;
        const row = await transaction.first(oldest, nowMs, ...parameters);
        if (row === undefined) return undefined;
        const id = readText(row, 'id');
        const lease = `update operations set state = 'running', started_at_ms = coalesce(started_at_ms, ?), attempts = attempts + 1,
          version = version + 1, lease_owner = ?, lease_until_ms = ? where id = ?`;
        await transaction.run(lease, nowMs, owner, leaseUntilMs, id);
        return await findClaimed(transaction, id);
      }, 'read-committed');
    },
    reportOperation: async ({ id, owner, leaseUntilMs, progress }) => {
      const own = 'where id = ? and lease_owner = ? and ended_at_ms is null';
      const changed =
        progress === undefined
          ? await database.run(`update operations set lease_until_ms = ? ${own}`, leaseUntilMs, id, owner)
          : await database.run(
              `update operations set lease_until_ms = ?, progress = ?, version = version + 1 ${own}`,
              leaseUntilMs,
              textOf(progress),
              id,
              owner,
            );
      if (changed === 0) return 'lost';
      const row = await database.first('select is_cancelling from operations where id = ?', id);
      return row !== undefined && readInteger(row, 'is_cancelling') === 1 ? 'cancel' : 'go-on';
    },
    endOperation: async (id, owner, { state, result, problem, endedAtMs, keepUntilMs }) => {
      const sql = `update operations set state = ?, result = ?, problem = ?, ended_at_ms = ?, keep_until_ms = ?, version = version + 1,
        lease_owner = null, sealed = null where id = ? and lease_owner = ? and ended_at_ms is null`;
      return (await database.run(sql, state, textOf(result), textOf(problem), endedAtMs, keepUntilMs, id, owner)) === 1;
    },
    releaseOperation: async (id, owner) => {
      const sql = `update operations set state = 'waiting', attempts = attempts - 1, lease_owner = null, lease_until_ms = 0,
        start_by_ms = null, version = version + 1 where id = ? and lease_owner = ? and ended_at_ms is null`;
      await database.run(sql, id, owner);
    },
    cancelOperation: (id, keepUntilMs, change) => database.transact((transaction) => cancel(transaction, id, keepUntilMs, change)),
    sweepOperations: async ({ nowMs, keepUntilMs, limit }) => {
      const problem = textOf({ code: 'not_begun', detail: 'No process that could run it has begun it in time: is a gateway running?' });
      const late = `update operations set state = 'failed', problem = ?, ended_at_ms = ?, keep_until_ms = ?, version = version + 1, sealed = null
        where ended_at_ms is null and state = 'waiting' and start_by_ms < ?`;
      await database.run(late, problem, nowMs, keepUntilMs, nowMs);
      const over = 'select id from operations where keep_until_ms < ? order by keep_until_ms limit ?';
      await database.run(`delete from operations where id in (${over})`, nowMs, limit);
    },
  };
}

async function find(database: Database, id: string): Promise<LongOperation | undefined> {
  const row = await database.first(`select ${columns} from operations where id = ?`, id);
  return row === undefined ? undefined : decode(row);
}

async function findClaimed(database: Database, id: string): Promise<ClaimedOperation | undefined> {
  const row = await database.first(`select ${columns}, sealed from operations where id = ?`, id);
  if (row === undefined) return undefined;
  const sealed = readOptionalText(row, 'sealed');
  return { ...decode(row), ...(sealed !== undefined && { sealed }) };
}

async function list(
  database: Database,
  { permissions, actor, kind, states, after, limit }: OperationQuery,
): Promise<readonly LongOperation[]> {
  if (permissions.length === 0 || states?.length === 0) return [];
  const conditions = [namesIn('permission', permissions), ...(states === undefined ? [] : [namesIn('state', states)])];
  if (actor !== undefined) conditions.push({ sql: 'actor = ?', parameters: [toStorableText(actor)] });
  if (kind !== undefined) conditions.push({ sql: 'kind = ?', parameters: [toStorableText(kind)] });
  if (after !== undefined)
    conditions.push({
      sql: '(created_at_ms < ? or (created_at_ms = ? and id < ?))',
      parameters: [after.createdAtMs, after.createdAtMs, after.id],
    });
  const where = conditions.map(({ sql }) => sql).join(' and ');
  const sql = `select ${columns} from operations where ${where} order by created_at_ms desc, id desc limit ?`;
  return (await database.all(sql, ...conditions.flatMap(({ parameters }) => parameters), limit)).map(decode);
}

async function insert(transaction: Database, operation: NewOperation, openMax: number, change: Change | undefined): Promise<boolean> {
  const { id, kind, permission, actor, input, sealed, createdAtMs, startByMs } = operation;
  const counting = 'select count(*) as open from operations where ended_at_ms is null and kind = ?';
  const open = await transaction.first(counting, kind);
  if (open !== undefined && readInteger(open, 'open') >= openMax) return false;
  const sql = `insert into operations (id, kind, state, permission, actor, input, is_cancelling, version, attempts, created_at_ms,
      start_by_ms, lease_until_ms, sealed)
    values (?, ?, 'waiting', ?, ?, ?, 0, 1, 0, ?, ?, 0, ?)`;
  await transaction.run(
    sql,
    id,
    kind,
    permission,
    toStorableText(actor),
    textOf(input ?? null),
    createdAtMs,
    startByMs ?? null,
    sealed ?? null,
  );
  if (change !== undefined) await appendAudit(transaction, change, { action: kind, subject: `operation:${id}` });
  return true;
}

async function cancel(transaction: Database, id: string, keepUntilMs: number, change: Change): Promise<LongOperation | undefined> {
  const before = await find(transaction, id);
  if (before === undefined || before.endedAtMs !== undefined || before.isCancelling) return before;
  const sql =
    before.state === 'waiting'
      ? `update operations set state = 'cancelled', is_cancelling = 1, ended_at_ms = ?, keep_until_ms = ?, version = version + 1,
          sealed = null where id = ?`
      : 'update operations set is_cancelling = 1, version = version + 1 where id = ?';
  await transaction.run(sql, ...(before.state === 'waiting' ? [change.atMs, keepUntilMs] : []), id);
  await appendAudit(transaction, change, { action: 'operations.cancel', subject: `operation:${id}` });
  return await find(transaction, id);
}

/** JSON without characters that a database cannot store. */
function textOf(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value);
}

function decode(row: SqlRow): LongOperation {
  const state = operationStates.find((each) => each === row['state']);
  const permission = readText(row, 'permission');
  if (state === undefined || !isPermission(permission))
    throw new StoreError('corrupt', 'An operation has a state or a permission that this version does not know.');
  const optional = (column: string): unknown => {
    const text = readOptionalText(row, column);
    return text === undefined ? undefined : JSON.parse(text);
  };
  // Written by this file.
  const progress = optional('progress') as LongOperation['progress'];
  const problem = optional('problem') as LongOperation['problem'];
  const result = optional('result');
  const startedAtMs = readOptionalInteger(row, 'started_at_ms');
  const endedAtMs = readOptionalInteger(row, 'ended_at_ms');
  return {
    id: readText(row, 'id'),
    kind: readText(row, 'kind'),
    state,
    permission,
    actor: readText(row, 'actor'),
    input: optional('input'),
    ...(progress !== undefined && { progress }),
    ...(result !== undefined && { result }),
    ...(problem !== undefined && { problem }),
    isCancelling: readInteger(row, 'is_cancelling') === 1,
    version: readInteger(row, 'version'),
    attempts: readInteger(row, 'attempts'),
    createdAtMs: readInteger(row, 'created_at_ms'),
    ...(startedAtMs !== undefined && { startedAtMs }),
    ...(endedAtMs !== undefined && { endedAtMs }),
  };
}
