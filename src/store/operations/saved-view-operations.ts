import { type SavedView, savedViewsMax, type SavedViewStore } from '../../accounts/saved-views/saved-view.ts';
import { toStorableText } from '../storable-text.ts';
import { appendAudit } from './audit-operations.ts';
import type { Database } from './database.ts';
import { readInteger, readText } from './read-column.ts';
import type { SqlParameter, SqlRow } from './sql-values.ts';

const columns = 'id, owner, actor, name, page, query, is_shared, created_at_ms, changed_at_ms';

/** The SQL of saved views. */
export function createSavedViewOperations(database: Database): SavedViewStore {
  return {
    insertSavedView: (view, change) =>
      database.transact(async (transaction) => {
        const owner = toStorableText(view.owner);
        const count = await transaction.first('select count(*) as views from saved_views where owner = ?', owner);
        if (count !== undefined && readInteger(count, 'views') >= savedViewsMax) return false;
        const { id, actor, name, page, query, isShared, createdAtMs, changedAtMs } = view;
        const texts = [toStorableText(actor), toStorableText(name), page, query] as const;
        const sql = `insert into saved_views (${columns}) values (?, ?, ?, ?, ?, ?, ?, ?, ?)`;
        await transaction.run(sql, id, owner, ...texts, isShared ? 1 : 0, createdAtMs, changedAtMs);
        await appendAudit(transaction, change, { action: 'saved_views.create', subject: subjectOf(id), after: describe(view) });
        return true;
      }),
    querySavedViews: async ({ owner, page, after, limit }) => {
      const parameters: SqlParameter[] = [toStorableText(owner)];
      let where = '(owner = ? or is_shared = 1)';
      if (page !== undefined) {
        where += ' and page = ?';
        parameters.push(toStorableText(page));
      }
      if (after !== undefined) {
        where += ' and (created_at_ms, id) < (?, ?)';
        parameters.push(after.createdAtMs, toStorableText(after.id));
      }
      const sql = `select ${columns} from saved_views where ${where} order by created_at_ms desc, id desc limit ?`;
      return (await database.all(sql, ...parameters, limit)).map(decode);
    },
    findSavedView: (id) => find(database, id),
    changeSavedView: (id, edit, change) =>
      database.transact(async (transaction) => {
        const before = await find(transaction, id);
        if (before === undefined) return false;
        const after = { ...before, ...edit, changedAtMs: change.atMs };
        const sql = 'update saved_views set name = ?, query = ?, is_shared = ?, changed_at_ms = ? where id = ?';
        await transaction.run(sql, toStorableText(after.name), after.query, after.isShared ? 1 : 0, after.changedAtMs, id);
        const states = { before: describe(before), after: describe(after) };
        await appendAudit(transaction, change, { action: 'saved_views.update', subject: subjectOf(id), ...states });
        return true;
      }),
    deleteSavedView: (id, change) =>
      database.transact(async (transaction) => {
        const before = await find(transaction, id);
        if (before === undefined) return false;
        await transaction.run('delete from saved_views where id = ?', id);
        await appendAudit(transaction, change, { action: 'saved_views.delete', subject: subjectOf(id), before: describe(before) });
        return true;
      }),
  };
}

/** Deletes the private views of an owner who is removed. Shared ones stay, and an operator may change them. */
export async function deletePrivateViews(transaction: Database, owner: string): Promise<void> {
  await transaction.run('delete from saved_views where owner = ? and is_shared = 0', owner);
}

const subjectOf = (id: string): string => `saved_view:${id}`;
const describe = ({ name, page, isShared }: SavedView): string => JSON.stringify({ name, page, shared: isShared });

async function find(database: Database, id: string): Promise<SavedView | undefined> {
  const row = await database.first(`select ${columns} from saved_views where id = ?`, toStorableText(id));
  return row === undefined ? undefined : decode(row);
}

function decode(row: SqlRow): SavedView {
  return {
    id: readText(row, 'id'),
    owner: readText(row, 'owner'),
    actor: readText(row, 'actor'),
    name: readText(row, 'name'),
    page: readText(row, 'page'),
    query: readText(row, 'query'),
    isShared: readInteger(row, 'is_shared') === 1,
    createdAtMs: readInteger(row, 'created_at_ms'),
    changedAtMs: readInteger(row, 'changed_at_ms'),
  };
}
