import type { AlertStore, NewNotice, Notice, NoticeEvent, NoticeStatus } from '../../alerts/alert-store.ts';
import { StoreError } from '../store-error.ts';
import { toStorableText } from '../storable-text.ts';
import type { Database } from './database.ts';
import { readInteger, readOptionalText, readText } from './read-column.ts';
import type { SqlRow } from './sql-values.ts';

type NoticeOperations = Pick<AlertStore, 'insertNotices' | 'claimNotices' | 'recordNotice' | 'listNotices'>;

const columns = 'id, channel, event, rule, subject, content, created_at_ms, status, attempts, next_attempt_at_ms, last_problem';
const due = "from alert_notices where status = 'waiting' and next_attempt_at_ms <= ? and lease_until_ms <= ?";
const events: readonly NoticeEvent[] = ['firing', 'resolved', 'test'];
const statuses: readonly NoticeStatus[] = ['waiting', 'delivered', 'given-up'];

/** The SQL of messages about alerts. */
export function createNoticeOperations(database: Database): NoticeOperations {
  return {
    insertNotices: (notices) => database.transact((transaction) => insertNotices(transaction, notices)),
    claimNotices: async ({ owner, nowMs, leaseUntilMs, limit }) => {
      // Usually nothing is due; this query avoids a transaction that would block others.
      if ((await database.first(`select 1 ${due} limit 1`, nowMs, nowMs)) === undefined) return [];
      return await database.transact(async (transaction) => {
        const free = transaction.fragments.forUpdateOfFree('alert_notices');
        const sql = `select ${columns} ${due} order by next_attempt_at_ms, id limit ? ${free}`;
        const notices = (await transaction.all(sql, nowMs, nowMs, limit)).map(decodeNotice);
        const lease = 'update alert_notices set lease_owner = ?, lease_until_ms = ? where id = ?';
        for (const { id } of notices) await transaction.run(lease, owner, leaseUntilMs, id);
        return notices;
      }, 'read-committed');
    },
    recordNotice: async ({ id, owner, status, attempts, nextAttemptAtMs, lastProblem, overAtMs }) => {
      const sql = `update alert_notices set status = ?, attempts = ?, next_attempt_at_ms = ?, last_problem = coalesce(?, last_problem),
          over_at_ms = ?, lease_owner = null, lease_until_ms = 0
        where id = ? and lease_owner = ?`;
      const problem = lastProblem === undefined ? null : toStorableText(lastProblem);
      return (await database.run(sql, status, attempts, nextAttemptAtMs, problem, overAtMs ?? null, id, owner)) === 1;
    },
    listNotices: async ({ limit, undelivered }) => {
      const which = undelivered ? "where status <> 'delivered'" : '';
      const rows = await database.all(`select ${columns} from alert_notices ${which} order by created_at_ms desc, id desc limit ?`, limit);
      return rows.map(decodeNotice);
    },
  };
}

/** Inserts messages within the caller's transaction. An existing message is not changed. */
export async function insertNotices(database: Database, notices: readonly NewNotice[]): Promise<void> {
  const sql = `insert into alert_notices (id, channel, event, rule, subject, content, created_at_ms, status, attempts, next_attempt_at_ms,
      lease_until_ms)
    values (?, ?, ?, ?, ?, ?, ?, 'waiting', 0, ?, 0) on conflict (id) do nothing`;
  for (const { id, channel, event, rule, subject, content, createdAtMs } of notices) {
    const names = [id, channel, event, rule, toStorableText(subject), toStorableText(content)];
    await database.run(sql, ...names, createdAtMs, createdAtMs);
  }
}

function decodeNotice(row: SqlRow): Notice {
  const event = events.find((each) => each === row['event']);
  const status = statuses.find((each) => each === row['status']);
  if (event === undefined || status === undefined)
    throw new StoreError('corrupt', 'A message about an alert has an event or a status that this version does not know.');
  const lastProblem = readOptionalText(row, 'last_problem');
  return {
    id: readText(row, 'id'),
    channel: readText(row, 'channel'),
    event,
    rule: readText(row, 'rule'),
    subject: readText(row, 'subject'),
    content: readText(row, 'content'),
    createdAtMs: readInteger(row, 'created_at_ms'),
    status,
    attempts: readInteger(row, 'attempts'),
    nextAttemptAtMs: readInteger(row, 'next_attempt_at_ms'),
    ...(lastProblem === undefined ? {} : { lastProblem }),
  };
}
