import type { TaskStore } from '../../tasks/task-store.ts';
import { toStorableText } from '../storable-text.ts';
import { bookEntry } from './ledger-operations.ts';
import type { Database } from './open-database.ts';
import { readText } from './read-column.ts';
import type { TaskStoreOperations } from './store-protocol.ts';
import { decodeTask, encodeTask, rankOf, taskColumns, toOpenProgress, toWhole } from './video-task-row.ts';

type SubmissionOperations = Pick<TaskStoreOperations, 'insertTask' | 'acceptTask' | 'refuseTask'>;

/** Tasks together with what their requests said. */
export const fromTasks = 'video_tasks join video_requests on task_id = id';
export const taskFields = [...taskColumns, 'sealed'].join(', ');

const insertRow = `insert into video_tasks (${taskColumns.join(', ')}, lease_owner, lease_until_ms)
  values (${taskColumns.map(() => '?').join(', ')}, ?, ?)`;

/**
 * The way of a task until the upstream has it, on a connection.
 * @param onErase called when something sealed was erased or replaced, of which the log may still have a copy
 */
export function createVideoSubmissionOperations(database: Database, onErase: () => void): SubmissionOperations {
  return {
    insertTask: (task, lease, idempotency) =>
      database.transact(() => {
        const known = idempotency === undefined ? undefined : findKnown(database, idempotency, task.createdAtMs);
        if (known !== undefined) return known;
        database.run(insertRow, ...encodeTask(task), toStorableText(lease.owner), toWhole(lease.untilMs));
        database.run('insert into video_requests (task_id, sealed) values (?, ?)', toStorableText(task.id), task.sealed);
        if (idempotency !== undefined) putKey(database, idempotency, task.id);
        return { type: 'inserted' };
      }),
    acceptTask: (accepted) => {
      const isAccepted = database.transact(() => acceptTask(database, accepted));
      if (isAccepted && accepted.sealed !== undefined) onErase();
      return isAccepted;
    },
    refuseTask: ({ id, owner, entry }) =>
      database.transact(() => {
        const sql = 'select 1 from video_tasks where id = ? and lease_owner = ? and phase = 0';
        if (database.first(sql, toStorableText(id), toStorableText(owner)) === undefined) return false;
        bookEntry(database, entry);
        eraseTask(database, id);
        onErase();
        return true;
      }),
  };
}

/** Removes a task with all that was said in its request, and the key that it was asked for under. Its ledger row stays. */
export function eraseTask(database: Database, id: string): void {
  const taskId = toStorableText(id);
  database.run('delete from video_idempotency where task_id = ?', taskId);
  database.run('delete from video_requests where task_id = ?', taskId);
  database.run('delete from video_tasks where id = ?', taskId);
}

type InsertTask = TaskStore['insertTask'];
type Idempotency = Exclude<Parameters<InsertTask>[2], undefined>;
type Known = Exclude<Awaited<ReturnType<InsertTask>>, { readonly type: 'inserted' }>;

/** Keys that go with each that comes, so that what nobody asks for again does not pile up. */
const forgottenKeys = 4;

/** What the key stands for already. */
function findKnown(database: Database, { keyId, key, bodyHash }: Idempotency, nowMs: number): Known | undefined {
  const over = 'select key_id, idempotency_key from video_idempotency where until_ms <= ? order by until_ms limit ?';
  database.run(`delete from video_idempotency where (key_id, idempotency_key) in (${over})`, toWhole(nowMs), forgottenKeys);
  const sql = 'select body_hash, task_id from video_idempotency where key_id = ? and idempotency_key = ? and until_ms > ?';
  const row = database.first(sql, toStorableText(keyId), toStorableText(key), toWhole(nowMs));
  if (row === undefined) return undefined;
  if (readText(row, 'body_hash') !== toStorableText(bodyHash)) return { type: 'conflict' };
  const task = database.first(`select ${taskFields} from ${fromTasks} where id = ?`, readText(row, 'task_id'));
  return task === undefined ? undefined : { type: 'existing', task: decodeTask(task) };
}

/** A key that is over makes room for the new one. */
function putKey(database: Database, { keyId, key, bodyHash, untilMs }: Idempotency, taskId: string): void {
  const sql = `insert into video_idempotency (key_id, idempotency_key, body_hash, until_ms, task_id) values (?, ?, ?, ?, ?)
    on conflict (key_id, idempotency_key)
    do update set body_hash = excluded.body_hash, until_ms = excluded.until_ms, task_id = excluded.task_id`;
  database.run(sql, toStorableText(keyId), toStorableText(key), toStorableText(bodyHash), toWhole(untilMs), toStorableText(taskId));
}

function acceptTask(database: Database, accepted: Parameters<SubmissionOperations['acceptTask']>[0]): boolean {
  const { id, owner, upstreamTaskId, phase, progress, nowMs, nextPollAtMs, sealed } = accepted;
  const sql = `update video_tasks set upstream_task_id = ?, phase = ?, progress = ?, last_poll_at_ms = ?, next_poll_at_ms = ?,
      lease_owner = null, lease_until_ms = 0
    where id = ? and lease_owner = ? and phase = 0`;
  const found = [toStorableText(upstreamTaskId), rankOf(phase), toOpenProgress(progress), toWhole(nowMs), toWhole(nextPollAtMs)] as const;
  if (database.run(sql, ...found, toStorableText(id), toStorableText(owner)) === 0) return false;
  if (sealed !== undefined) database.run('update video_requests set sealed = ? where task_id = ?', sealed, toStorableText(id));
  return true;
}
