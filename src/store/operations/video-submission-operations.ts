import { ownersOf, type SpendingCall } from '../../billing/credits/pots.ts';
import type { TaskStore } from '../../tasks/task-store.ts';
import type { VideoTask } from '../../tasks/video-task.ts';
import { toStorableText } from '../storable-text.ts';
import { takeFromLeases } from './booked-spend.ts';
import { lockAccounts } from './lease-operations.ts';
import { bookEntry } from './ledger-operations.ts';
import type { Database } from './database.ts';
import { readText } from './read-column.ts';
import type { TaskStoreOperations } from '../worker/store-protocol.ts';
import { decodeTask, encodeTask, rankOf, taskColumns, toOpenProgress, toWhole } from './video-task-row.ts';

type SubmissionOperations = Pick<TaskStoreOperations, 'findKeyedTask' | 'insertTask' | 'acceptTask' | 'refuseTask'>;

/** Tasks joined with their requests. */
export const fromTasks = 'video_tasks join video_requests on task_id = id';
export const taskFields = [...taskColumns, 'sealed'].join(', ');

const insertRow = `insert into video_tasks (${taskColumns.join(', ')}, lease_owner, lease_until_ms)
  values (${taskColumns.map(() => '?').join(', ')}, ?, ?)`;

/** The part of a task by which its pots are found. */
function spenderOf({ userName, keyId, team }: VideoTask): SpendingCall {
  return { userName: toStorableText(userName), keyId, teamId: team?.id };
}

/**
 * The SQL of a task until the upstream has accepted it.
 * @param onErase called when sealed data was erased or replaced, of which the log may still have a copy
 */
export function createVideoSubmissionOperations(database: Database, onErase: () => void): SubmissionOperations {
  return {
    findKeyedTask: (request) => findExisting(database, request, request.nowMs),
    insertTask: (task, lease, idempotency, nodeId) =>
      database.transact(async (transaction): ReturnType<InsertTask> => {
        if (nodeId !== undefined && task.heldPots !== undefined) await lockAccounts(transaction, ownersOf(spenderOf(task)));
        if (idempotency !== undefined) await deleteExpiredKeys(transaction, task.createdAtMs);
        const existing = idempotency === undefined ? undefined : await findExisting(transaction, idempotency, task.createdAtMs);
        if (existing !== undefined) return existing;
        await transaction.run(insertRow, ...encodeTask(task), toStorableText(lease.owner), toWhole(lease.untilMs));
        await transaction.run('insert into video_requests (task_id, sealed) values (?, ?)', toStorableText(task.id), task.sealed);
        if (idempotency !== undefined) await putKey(transaction, idempotency, task.id);
        if (nodeId !== undefined && task.heldPots !== undefined) {
          const held = new Map([[task.heldPots, task.heldNanoUsd]]);
          await takeFromLeases(transaction, nodeId, { ...spenderOf(task), acceptedAtMs: task.createdAtMs }, held);
        }
        return { type: 'inserted' };
      }),
    acceptTask: async (accepted) => {
      const isAccepted = await database.transact((transaction) => acceptTask(transaction, accepted));
      if (isAccepted && accepted.sealed !== undefined) onErase();
      return isAccepted;
    },
    refuseTask: async ({ id, owner, entry }) => {
      const lock = database.fragments.forUpdate('video_tasks');
      const sql = `select 1 from video_tasks where id = ? and lease_owner = ? and phase = 0 ${lock}`;
      const isRefused = await database.transact(async (transaction) => {
        if ((await transaction.first(sql, toStorableText(id), toStorableText(owner))) === undefined) return false;
        await bookEntry(transaction, entry);
        await eraseTask(transaction, id);
        return true;
      }, 'read-committed');
      if (isRefused) onErase();
      return isRefused;
    },
  };
}

/** Removes a task with its request and its idempotency key. Its ledger row stays. */
export async function eraseTask(database: Database, id: string): Promise<void> {
  const taskId = toStorableText(id);
  await database.run('delete from video_idempotency where task_id = ?', taskId);
  await database.run('delete from video_requests where task_id = ?', taskId);
  await database.run('delete from video_tasks where id = ?', taskId);
}

type InsertTask = TaskStore['insertTask'];
type Idempotency = Exclude<Parameters<InsertTask>[2], undefined>;
type ExistingTask = Exclude<Awaited<ReturnType<InsertTask>>, { readonly type: 'inserted' }>;

/** Expired keys that are deleted with each new one, so that they do not accumulate. */
const expiredKeysPerInsert = 4;

async function deleteExpiredKeys(database: Database, nowMs: number): Promise<void> {
  const over = 'select key_id, idempotency_key from video_idempotency where until_ms <= ? order by until_ms limit ?';
  await database.run(`delete from video_idempotency where (key_id, idempotency_key) in (${over})`, toWhole(nowMs), expiredKeysPerInsert);
}

/** The task that the key already has. */
async function findExisting(
  database: Database,
  { keyId, key, bodyHash }: Omit<Idempotency, 'untilMs'>,
  nowMs: number,
): Promise<ExistingTask | undefined> {
  const sql = 'select body_hash, task_id from video_idempotency where key_id = ? and idempotency_key = ? and until_ms > ?';
  const row = await database.first(sql, toStorableText(keyId), toStorableText(key), toWhole(nowMs));
  if (row === undefined) return undefined;
  if (readText(row, 'body_hash') !== toStorableText(bodyHash)) return { type: 'conflict' };
  const task = await database.first(`select ${taskFields} from ${fromTasks} where id = ?`, readText(row, 'task_id'));
  return task === undefined ? undefined : { type: 'existing', task: decodeTask(task) };
}

/** An expired key is replaced by the new one. */
async function putKey(database: Database, { keyId, key, bodyHash, untilMs }: Idempotency, taskId: string): Promise<void> {
  const sql = `insert into video_idempotency (key_id, idempotency_key, body_hash, until_ms, task_id) values (?, ?, ?, ?, ?)
    on conflict (key_id, idempotency_key)
    do update set body_hash = excluded.body_hash, until_ms = excluded.until_ms, task_id = excluded.task_id`;
  await database.run(sql, toStorableText(keyId), toStorableText(key), toStorableText(bodyHash), toWhole(untilMs), toStorableText(taskId));
}

async function acceptTask(database: Database, accepted: Parameters<SubmissionOperations['acceptTask']>[0]): Promise<boolean> {
  const { id, owner, upstreamTaskId, phase, progress, nowMs, nextPollAtMs, sealed } = accepted;
  const sql = `update video_tasks set upstream_task_id = ?, phase = ?, progress = ?, last_poll_at_ms = ?, next_poll_at_ms = ?,
      lease_owner = null, lease_until_ms = 0
    where id = ? and lease_owner = ? and phase = 0`;
  const found = [toStorableText(upstreamTaskId), rankOf(phase), toOpenProgress(progress), toWhole(nowMs), toWhole(nextPollAtMs)] as const;
  if ((await database.run(sql, ...found, toStorableText(id), toStorableText(owner))) === 0) return false;
  if (sealed !== undefined) await database.run('update video_requests set sealed = ? where task_id = ?', sealed, toStorableText(id));
  return true;
}
