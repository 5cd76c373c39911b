import type { CallbackSecrets, Delivery, DeliveryStatus, NewDelivery } from '../../tasks/callbacks/callback-store.ts';
import { toStorableText } from '../storable-text.ts';
import { appendAudit } from './audit-operations.ts';
import { StoreError } from '../store-error.ts';
import type { Database } from './database.ts';
import type { SqlRow } from './sql-values.ts';
import { readBytes, readInteger, readOptionalInteger, readOptionalText, readText } from './read-column.ts';
import type { CallbackStoreOperations } from '../worker/store-protocol.ts';
import { toOptionalText, toOptionalWhole, toWhole } from './video-task-row.ts';

/** The SQL of callbacks and their signing secrets. */
export function createCallbackOperations(database: Database): CallbackStoreOperations {
  return {
    ...createAttemptOperations(database),
    insertDeliveries: (deliveries) => database.transact((transaction) => insertDeliveries(transaction, deliveries)),
    listDeliveries: async ({ userName, subject, limit }) => {
      const order = 'order by created_at_ms desc, id desc limit ?';
      const rows =
        subject === undefined
          ? await database.all(
              `select ${deliveryColumns} from callback_deliveries where user_name = ? ${order}`,
              toStorableText(userName),
              limit,
            )
          : await database.all(
              `select ${deliveryColumns} from callback_deliveries where user_name = ? and subject = ? ${order}`,
              toStorableText(userName),
              toStorableText(subject),
              limit,
            );
      return rows.map(decodeDelivery);
    },
    findCallbackSecrets: async (userName) => {
      const row = await database.first('select * from callback_secrets where user_name = ?', toStorableText(userName));
      return row === undefined ? undefined : decodeSecrets(row);
    },
    putCallbackSecrets: async ({ userName, current, previous, change }) => {
      const sql = `insert into callback_secrets (user_name, current_sealed, previous_sealed, previous_until_ms) values (?, ?, ?, ?)
        on conflict (user_name) do update set current_sealed = excluded.current_sealed, previous_sealed = excluded.previous_sealed,
          previous_until_ms = excluded.previous_until_ms`;
      await database.transact(async (transaction) => {
        await transaction.run(sql, toStorableText(userName), current, previous?.sealed ?? null, toOptionalWhole(previous?.untilMs));
        if (change !== undefined)
          await appendAudit(transaction, change, { action: 'callback_secrets.rotate', subject: `user:${userName}` });
      });
    },
  };
}

export const deliveryColumns = `id, user_name, subject, event_type, sealed_url, payload, created_at_ms, status, attempts, next_attempt_at_ms,
  last_status, last_problem, delivered_at_ms`;

/** Inserts deliveries within the caller's transaction. An existing delivery is not changed. */
export async function insertDeliveries(database: Database, deliveries: readonly NewDelivery[]): Promise<void> {
  const sql = `insert into callback_deliveries (id, user_name, subject, event_type, sealed_url, payload, created_at_ms, status, attempts,
      next_attempt_at_ms, lease_until_ms)
    values (?, ?, ?, ?, ?, ?, ?, 'waiting', 0, ?, 0) on conflict (id) do nothing`;
  for (const { id, userName, subject, eventType, sealedUrl, payload, createdAtMs } of deliveries) {
    const names = [id, userName, subject, eventType].map(toStorableText);
    const atMs = toWhole(createdAtMs);
    await database.run(sql, ...names, sealedUrl, toStorableText(payload), atMs, atMs);
  }
}

type AttemptOperations = Pick<CallbackStoreOperations, 'claimDeliveries' | 'recordAttempt' | 'redeliver' | 'sweepDeliveries'>;

const dueDeliveries = "from callback_deliveries where status = 'waiting' and next_attempt_at_ms <= ? and lease_until_ms <= ?";

function createAttemptOperations(database: Database): AttemptOperations {
  return {
    claimDeliveries: async ({ owner, nowMs, leaseUntilMs, limit }) => {
      const dueAt = [toWhole(nowMs), toWhole(nowMs)] as const;
      // Usually nothing is due; this query avoids a transaction that would block others.
      if ((await database.first(`select 1 ${dueDeliveries} limit 1`, ...dueAt)) === undefined) return [];
      return await database.transact(async (transaction) => {
        const free = transaction.fragments.forUpdateOfFree('callback_deliveries');
        const sql = `select ${deliveryColumns} ${dueDeliveries} order by next_attempt_at_ms, id limit ? ${free}`;
        const deliveries = (await transaction.all(sql, ...dueAt, limit)).map(decodeDelivery);
        const lease = 'update callback_deliveries set lease_owner = ?, lease_until_ms = ? where id = ?';
        for (const { id } of deliveries) await transaction.run(lease, toStorableText(owner), toWhole(leaseUntilMs), id);
        return deliveries;
      }, 'read-committed');
    },
    recordAttempt: (attempt) => recordAttempt(database, attempt),
    redeliver: async ({ userName, id, change }) => {
      // Ending the lease prevents an attempt in progress from recording its outcome for the new one.
      const sql = `update callback_deliveries set status = 'waiting', attempts = 0, next_attempt_at_ms = ?, last_status = null, last_problem = null,
          delivered_at_ms = null, over_at_ms = null, lease_owner = null, lease_until_ms = 0
        where id = ? and user_name = ?`;
      return await database.transact(async (transaction) => {
        if ((await transaction.run(sql, toWhole(change.atMs), toStorableText(id), toStorableText(userName))) === 0) return false;
        await appendAudit(transaction, change, { action: 'callbacks.redeliver', subject: `callback:${id}` });
        return true;
      });
    },
    sweepDeliveries: async ({ beforeMs, limit }) => {
      const over = 'select id from callback_deliveries where over_at_ms is not null and over_at_ms < ? order by over_at_ms limit ?';
      return await database.run(`delete from callback_deliveries where id in (${over})`, toWhole(beforeMs), limit);
    },
  };
}

async function recordAttempt(database: Database, attempt: Parameters<AttemptOperations['recordAttempt']>[0]): Promise<boolean> {
  const { id, owner, status, attempts, nextAttemptAtMs, lastStatus, lastProblem, deliveredAtMs } = attempt;
  // The time of a delivery that was abandoned is not recorded; it is at the earliest when the attempt was due.
  const sql = `update callback_deliveries set status = ?, attempts = ?, last_status = ?, last_problem = ?, delivered_at_ms = ?,
      over_at_ms = case when ? = 1 then null else coalesce(?, ${database.fragments.greatest}(next_attempt_at_ms, ?)) end, next_attempt_at_ms = ?,
      lease_owner = null, lease_until_ms = 0
    where id = ? and lease_owner = ?`;
  const outcome = [status, toWhole(attempts), toOptionalWhole(lastStatus), toOptionalText(lastProblem)] as const;
  const deliveredAt = toOptionalWhole(deliveredAtMs);
  const nextAt = toWhole(nextAttemptAtMs);
  const times = [deliveredAt, status === 'waiting' ? 1 : 0, deliveredAt, nextAt, nextAt] as const;
  return (await database.run(sql, ...outcome, ...times, toStorableText(id), toStorableText(owner))) === 1;
}

export function decodeDelivery(row: SqlRow): Delivery {
  const lastStatus = readOptionalInteger(row, 'last_status');
  const lastProblem = readOptionalText(row, 'last_problem');
  const deliveredAtMs = readOptionalInteger(row, 'delivered_at_ms');
  return {
    id: readText(row, 'id'),
    userName: readText(row, 'user_name'),
    subject: readText(row, 'subject'),
    eventType: readText(row, 'event_type'),
    sealedUrl: readBytes(row, 'sealed_url'),
    payload: readText(row, 'payload'),
    createdAtMs: readInteger(row, 'created_at_ms'),
    status: readStatus(row),
    attempts: readInteger(row, 'attempts'),
    nextAttemptAtMs: readInteger(row, 'next_attempt_at_ms'),
    ...(lastStatus === undefined ? {} : { lastStatus }),
    ...(lastProblem === undefined ? {} : { lastProblem }),
    ...(deliveredAtMs === undefined ? {} : { deliveredAtMs }),
  };
}

function readStatus(row: SqlRow): DeliveryStatus {
  const status = readText(row, 'status');
  if (status === 'waiting' || status === 'delivered' || status === 'given-up') return status;
  throw new StoreError('corrupt', 'Column status is not a known status of a delivery.');
}

function decodeSecrets(row: SqlRow): CallbackSecrets {
  const secrets = { userName: readText(row, 'user_name'), current: readBytes(row, 'current_sealed') };
  const untilMs = readOptionalInteger(row, 'previous_until_ms');
  return untilMs === undefined ? secrets : { ...secrets, previous: { sealed: readBytes(row, 'previous_sealed'), untilMs } };
}
