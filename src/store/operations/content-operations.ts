import type { ContentErasure, ContentStore, NotedObject } from '../../content/content-store.ts';
import type { Change } from '../../audit/change-author.ts';
import { appendAudit } from './audit-operations.ts';
import type { Database } from './database.ts';
import { readInteger, readText } from './read-column.ts';
import type { SqlRow } from './sql-values.ts';

const states = { writing: 0, written: 1, erased: 2 } as const;

const selectErasures = `select e.user_id as user_id, e.user_name as user_name, e.before_ms as before_ms, e.ordered_at_ms as ordered_at_ms,
    (select count(*) from content_objects o where o.user_id = e.user_id and o.state = ${states.erased}) as objects_left
  from content_erasures e`;

/** The SQL of objects with content, and of orders to erase it. */
export function createContentOperations(database: Database): ContentStore {
  return {
    noteObject: (object) => database.transact((transaction) => noteObject(transaction, object)),
    confirmObject: async ({ place, name }) => {
      const sql = `update content_objects set state = ${states.written} where place = ? and name = ? and state <> ${states.erased}`;
      return (await database.run(sql, place, name)) === 1;
    },
    listRemovableObjects: async ({ place, beforeMs, limit }) => {
      const old = beforeMs === undefined ? '' : 'or to_ms < ?';
      const sql = `select name from content_objects where place = ? and (state = ${states.erased} ${old}) order by name limit ?`;
      const values = beforeMs === undefined ? [place, limit] : [place, beforeMs, limit];
      return (await database.all(sql, ...values)).map((row) => readText(row, 'name'));
    },
    forgetObjects: async ({ place, names }) => {
      await database.transact(async (transaction) => {
        for (const name of names) await transaction.run('delete from content_objects where place = ? and name = ?', place, name);
      });
    },
    eraseContent: (order, change) => database.transact((transaction) => eraseContent(transaction, order, change)),
    listErasures: async () => (await database.all(`${selectErasures} order by e.ordered_at_ms desc, e.user_id`)).map(decodeErasure),
  };
}

/** Refused if an erasure covers a call in it. A batch that is sent again notes its objects again. */
async function noteObject(transaction: Database, object: NotedObject): Promise<boolean> {
  const { place, name, userId, user, fromMs, toMs, records, bytes, nowMs } = object;
  const erased = await transaction.first('select before_ms from content_erasures where user_id = ? and before_ms > ?', userId, fromMs);
  if (erased !== undefined) return false;
  const sql = `insert into content_objects (place, name, user_id, user_name, from_ms, to_ms, records, bytes, noted_at_ms, state)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ${states.writing})
    on conflict (place, name) do update set from_ms = excluded.from_ms, to_ms = excluded.to_ms, records = excluded.records,
      bytes = excluded.bytes, state = ${states.writing} where content_objects.state <> ${states.erased}`;
  return (await transaction.run(sql, place, name, userId, user, fromMs, toMs, records, bytes, nowMs)) === 1;
}

async function eraseContent(
  transaction: Database,
  { userName, beforeMs }: Parameters<ContentStore['eraseContent']>[0],
  change: Change,
): Promise<ContentErasure | undefined> {
  const user = await transaction.first('select id, name from users where name = ?', userName);
  if (user === undefined) return undefined;
  const userId = readText(user, 'id');
  const sql = `insert into content_erasures (user_id, user_name, before_ms, ordered_at_ms) values (?, ?, ?, ?)
    on conflict (user_id) do update set ordered_at_ms = excluded.ordered_at_ms,
      before_ms = case when excluded.before_ms > content_erasures.before_ms then excluded.before_ms else content_erasures.before_ms end`;
  await transaction.run(sql, userId, userName, beforeMs, change.atMs);
  // An object with calls on both sides of the moment goes as a whole: it is better to delete too much.
  await transaction.run(`update content_objects set state = ${states.erased} where user_id = ? and from_ms < ?`, userId, beforeMs);
  const after = JSON.stringify({ before: new Date(beforeMs).toISOString() });
  await appendAudit(transaction, change, { action: 'content.erase', subject: `content:${userName}`, after });
  const row = await transaction.first(`${selectErasures} where e.user_id = ?`, userId);
  return row === undefined ? undefined : decodeErasure(row);
}

function decodeErasure(row: SqlRow): ContentErasure {
  return {
    userId: readText(row, 'user_id'),
    user: readText(row, 'user_name'),
    beforeMs: readInteger(row, 'before_ms'),
    orderedAtMs: readInteger(row, 'ordered_at_ms'),
    objectsLeft: readInteger(row, 'objects_left'),
  };
}
