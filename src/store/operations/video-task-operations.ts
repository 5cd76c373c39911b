import type { TaskEnd, TaskProgress } from '../../tasks/task-store.ts';
import type { VideoTask } from '../../tasks/video-task.ts';
import { toStorableText } from '../storable-text.ts';
import { insertDeliveries } from './callback-operations.ts';
import { bookEntry } from './ledger-operations.ts';
import { appendAudit } from './audit-operations.ts';
import { readPage } from './list-page.ts';
import { expireImages } from './image-operations.ts';
import type { Database } from './database.ts';
import type { SqlFragments } from './sql-fragments.ts';
import { readBigInt, readInteger, readOptionalInteger, readOptionalText, readText } from './read-column.ts';
import type { TaskStoreOperations } from '../worker/store-protocol.ts';
import { createVideoSubmissionOperations, eraseTask, fromTasks, taskFields } from './video-submission-operations.ts';
import { decodeTask, encodeError, rankOf, toOpenProgress, toOptionalText, toOptionalWhole, toWhole } from './video-task-row.ts';

/** The SQL of video tasks. */
export function createVideoTaskOperations(database: Database): TaskStoreOperations {
  const traces = { areLeft: false };
  return {
    ...createVideoSubmissionOperations(database, () => (traces.areLeft = true)),
    ...createPollOperations(database),
    ...createTaskQueries(database),
    ...createTaskDeletion(database, traces),
    // The row of the task is locked, and everything else depends on it.
    endTask: (end) => database.transact((transaction) => endTask(transaction, end), 'read-committed'),
  };
}

type TaskDeletion = Awaited<ReturnType<TaskStoreOperations['deleteTask']>>;
type PollOperations = Pick<TaskStoreOperations, 'claimTasks' | 'renewTask' | 'recordProgressGroup'>;

function createPollOperations(database: Database): PollOperations {
  return {
    claimTasks: async (claim) => {
      // Usually nothing is due; this query avoids a transaction that would block every other process.
      if ((await database.first(`select 1 ${dueTasks} limit 1`, toWhole(claim.nowMs), toWhole(claim.nowMs))) === undefined) return [];
      return await database.transact((transaction) => claimTasks(transaction, claim), 'read-committed');
    },
    renewTask: async ({ id, owner, leaseUntilMs }) => {
      const sql = 'update video_tasks set lease_until_ms = ? where id = ? and lease_owner = ? and phase < 4';
      return (await database.run(sql, toWhole(leaseUntilMs), toStorableText(id), toStorableText(owner))) === 1;
    },
    recordProgressGroup: (group) => database.transact((transaction) => recordGroup(transaction, group), 'read-committed'),
  };
}

const dueTasks = `from ${fromTasks} where phase < 4 and next_poll_at_ms <= ? and lease_until_ms <= ?`;

const byWait = (left: VideoTask, right: VideoTask): number => left.nextPollAtMs - right.nextPollAtMs || (left.id < right.id ? -1 : 1);

async function claimTasks(
  database: Database,
  { owner, nowMs, leaseUntilMs, limit, storingMax }: Parameters<PollOperations['claimTasks']>[0],
): Promise<readonly VideoTask[]> {
  const free = database.fragments.forUpdateOfFree('video_tasks');
  const take = async (condition: string, most: number): Promise<readonly VideoTask[]> => {
    const sql = `select ${taskFields} ${dueTasks} ${condition} order by next_poll_at_ms, id limit ? ${free}`;
    return (await database.all(sql, toWhole(nowMs), toWhole(nowMs), most)).map(decodeTask);
  };
  const tasks =
    storingMax === undefined
      ? await take('', limit)
      : [...(await take('and phase = 3', Math.min(limit, storingMax))), ...(await take('and phase <> 3', limit))]
          .toSorted(byWait)
          .slice(0, limit);
  const lease = 'update video_tasks set lease_owner = ?, lease_until_ms = ? where id = ?';
  for (const { id } of tasks) await database.run(lease, toStorableText(owner), toWhole(leaseUntilMs), id);
  return tasks;
}

const createRecordSql = ({ greatest }: SqlFragments): string => `update video_tasks
  set phase = ${greatest}(phase, ?), progress = ${greatest}(progress, ?), result = coalesce(?, result),
    last_poll_at_ms = ?, next_poll_at_ms = ?, poll_failures = ?, missing_since_ms = ?, alert_since_ms = ?, alert_reason = ?,
    lease_owner = null, lease_until_ms = 0
  where id = ? and lease_owner = ? and phase < 4`;

/** Returns outcomes in the order of the group. All transactions write rows in the same order, so that none deadlock. */
async function recordGroup(database: Database, group: readonly TaskProgress[]): Promise<readonly boolean[]> {
  const sql = createRecordSql(database.fragments);
  const outcomes = new Map<TaskProgress, boolean>();
  for (const progress of group.toSorted((left, right) => (left.id < right.id ? -1 : Number(left.id > right.id))))
    outcomes.set(progress, await recordProgress(database, sql, progress));
  return group.map((progress) => outcomes.get(progress) === true);
}

async function recordProgress(database: Database, sql: string, progress: TaskProgress): Promise<boolean> {
  const { phase, result, nowMs, nextPollAtMs, pollFailures, missingSinceMs, alert, id, owner } = progress;
  const forward = [phase === undefined ? 0 : rankOf(phase), toOpenProgress(progress.progress ?? 0), toOptionalText(result)] as const;
  const poll = [toWhole(nowMs), toWhole(nextPollAtMs), toWhole(pollFailures), toOptionalWhole(missingSinceMs)] as const;
  const alerted = [toOptionalWhole(alert?.sinceMs), toOptionalText(alert?.reason)] as const;
  return (await database.run(sql, ...forward, ...poll, ...alerted, toStorableText(id), toStorableText(owner))) === 1;
}

/**
 * Writes everything that belongs to the end of a task, or nothing. The charge is that of the ledger row, even if it
 * existed before.
 */
const createEndSql = ({
  greatest,
}: SqlFragments): string => `update video_tasks set phase = ?, progress = ${greatest}(progress, ?), ended_at_ms = ?, error = ?,
    media_key = ?, media_type = ?, media_bytes = ?, media_sha256 = ?,
    duration_ms = coalesce(?, duration_ms), expires_at_ms = coalesce(?, expires_at_ms),
    charged_nano_usd = (select amount_nano_usd from calls where call_id = ?), lease_owner = null, lease_until_ms = 0
  where id = ?`;

async function endTask(database: Database, end: TaskEnd): Promise<boolean> {
  const id = toStorableText(end.id);
  const row = await database.first(
    `select lease_owner from video_tasks where id = ? and phase < 4 ${database.fragments.forUpdate('video_tasks')}`,
    id,
  );
  if (row === undefined) return false;
  if (end.owner !== undefined && row['lease_owner'] !== toStorableText(end.owner)) return false;
  await bookEntry(database, end.entry);
  const { phase, error, media, durationMs, endedAtMs, expiresAtMs, entry } = end;
  const outcome = [rankOf(phase), phase === 'completed' ? 100 : 0, toWhole(endedAtMs), encodeError(error)] as const;
  const file = [toOptionalText(media?.key), toOptionalText(media?.mediaType), toOptionalWhole(media?.bytes), toOptionalText(media?.sha256)];
  await database.run(
    createEndSql(database.fragments),
    ...outcome,
    ...file,
    durationMs ?? null,
    toOptionalWhole(expiresAtMs),
    toStorableText(entry.callId),
    id,
  );
  await insertDeliveries(database, end.deliveries);
  return true;
}

type TaskQueries = Pick<
  TaskStoreOperations,
  'findTask' | 'findTaskOwner' | 'listTasks' | 'unknownMedia' | 'mediaBytes' | 'countTasks' | 'heldFor'
>;

function createTaskQueries(database: Database): TaskQueries {
  return {
    findTask: async ({ userName, id }) => {
      const sql = `select ${taskFields} from ${fromTasks} where id = ? and user_name = ?`;
      const row = await database.first(sql, toStorableText(id), toStorableText(userName));
      return row === undefined ? undefined : decodeTask(row);
    },
    findTaskOwner: async (id) => {
      const row = await database.first('select user_name from video_tasks where id = ?', toStorableText(id));
      return row === undefined ? undefined : readText(row, 'user_name');
    },
    listTasks: async ({ userName, ...page }) => {
      const query = {
        columns: taskFields,
        from: fromTasks,
        where: 'user_name = ?',
        idColumn: 'id',
        parameters: [toStorableText(userName)],
      };
      const after = page.after === undefined ? undefined : toStorableText(page.after);
      return (await readPage(database, query, { ...page, after })).map(decodeTask);
    },
    unknownMedia: async (keys) => {
      const sql = 'select 1 from video_tasks where media_key = ? union all select 1 from pictures where id = ? limit 1';
      const unknown: string[] = [];
      for (const key of keys) if ((await database.first(sql, toStorableText(key), toStorableText(key))) === undefined) unknown.push(key);
      return unknown;
    },
    mediaBytes: async ({ userName, keyId }) => {
      const ofKey = keyId === undefined ? '' : 'and key_id = ?';
      const owner = keyId === undefined ? [toStorableText(userName)] : [toStorableText(userName), toStorableText(keyId)];
      let bytes = 0;
      for (const table of ['video_tasks', 'pictures']) {
        const sql = `select coalesce(sum(media_bytes), 0) as bytes from ${table} where media_bytes is not null and user_name = ? ${ofKey}`;
        const row = await database.first(sql, ...owner);
        bytes += row === undefined ? 0 : readInteger(row, 'bytes');
      }
      return bytes;
    },
    countTasks: async (nowMs) => {
      // A task that is leased is not late.
      const sql = `select count(*) as open, count(alert_since_ms) as alerted,
          min(case when lease_until_ms <= ? then next_poll_at_ms end) as due_at_ms
        from video_tasks where phase < 4`;
      const row = await database.first(sql, toWhole(nowMs));
      if (row === undefined) return { open: 0, alerted: 0, latenessMs: 0 };
      const dueAtMs = readOptionalInteger(row, 'due_at_ms') ?? nowMs;
      return { open: readInteger(row, 'open'), alerted: readInteger(row, 'alerted'), latenessMs: Math.max(0, nowMs - dueAtMs) };
    },
    heldFor: async (userName) => {
      // In two halves, because a sum above 64 bits would be an error.
      const sql = `select coalesce(sum(held_nano_usd / 4294967296), 0) as high, coalesce(sum(held_nano_usd % 4294967296), 0) as low
        from video_tasks where user_name = ? and phase < 4`;
      const row = await database.first(sql, toStorableText(userName));
      return row === undefined ? 0n : readBigInt(row, 'high') * 4_294_967_296n + readBigInt(row, 'low');
    },
  };
}

/** @param traces whether the log may contain erased data: the sweep then empties it */
function createTaskDeletion(
  database: Database,
  traces: { areLeft: boolean },
): Pick<TaskStoreOperations, 'deleteTask' | 'expireMedia' | 'sweepTasks'> {
  return {
    deleteTask: ({ userName, id, change }) =>
      database.transact(async (transaction): Promise<TaskDeletion> => {
        const sql = 'select phase, media_key from video_tasks where id = ? and user_name = ?';
        const row = await transaction.first(sql, toStorableText(id), toStorableText(userName));
        if (row === undefined) return { type: 'unknown' };
        if (readInteger(row, 'phase') < rankOf('completed')) return { type: 'open' };
        await eraseTask(transaction, id);
        if (change !== undefined) await appendAudit(transaction, change, { action: 'videos.delete', subject: `video:${id}` });
        traces.areLeft = true;
        const mediaKey = readOptionalText(row, 'media_key');
        return { type: 'deleted', ...(mediaKey === undefined ? {} : { mediaKey }) };
      }),
    expireMedia: async (sweep) => {
      const keys = await database.transact((transaction) => expireMedia(transaction, sweep));
      if (traces.areLeft && keys.length < sweep.limit) traces.areLeft = !(await database.forgetErased());
      return keys;
    },
    sweepTasks: ({ endedBeforeMs, limit }) =>
      database.transact(async (transaction) => {
        const sql = `select id from video_tasks where phase >= 4 and media_key is null and ended_at_ms < ? order by ended_at_ms limit ?`;
        const rows = await transaction.all(sql, toWhole(endedBeforeMs), limit);
        for (const row of rows) await eraseTask(transaction, readText(row, 'id'));
        if (rows.length > 0) traces.areLeft = true;
        return rows.length;
      }),
  };
}

async function expireMedia(
  database: Database,
  { nowMs, limit }: { readonly nowMs: number; readonly limit: number },
): Promise<readonly string[]> {
  const sql = `select id, media_key from video_tasks where media_key is not null and expires_at_ms <= ? order by expires_at_ms limit ?`;
  const rows = await database.all(sql, toWhole(nowMs), limit);
  const forget = 'update video_tasks set media_key = null, media_type = null, media_bytes = null, media_sha256 = null where id = ?';
  for (const row of rows) await database.run(forget, readText(row, 'id'));
  const keys = rows.map((row) => readText(row, 'media_key'));
  return keys.length === limit ? keys : [...keys, ...(await expireImages(database, { nowMs, limit: limit - keys.length }))];
}
