import { createHash } from 'node:crypto';

import { type PriceDraft, priceDraftsMax, type PriceDraftStore, type PriceDraftSummary } from '../../billing/price-books/price-draft.ts';
import { toStorableText } from '../storable-text.ts';
import { appendAudit } from './audit-operations.ts';
import type { Database } from './database.ts';
import { readInteger, readOptionalText, readText } from './read-column.ts';
import type { SqlRow } from './sql-values.ts';

const summary = 'id, name, note, created_at_ms, changed_at_ms, actor';

/** The SQL of drafts of prices. */
export function createPriceDraftOperations(database: Database): PriceDraftStore {
  return {
    insertPriceDraft: (draft, change) =>
      database.transact(async (transaction) => {
        const { id, name, note, book, createdAtMs, changedAtMs, actor } = draft;
        const count = await transaction.first('select count(*) as drafts from price_drafts');
        if (count !== undefined && readInteger(count, 'drafts') >= priceDraftsMax) return false;
        const sql = `insert into price_drafts (${summary}, book) values (?, ?, ?, ?, ?, ?, ?)`;
        const noted = note === undefined ? null : toStorableText(note);
        await transaction.run(sql, id, toStorableText(name), noted, createdAtMs, changedAtMs, actor, toStorableText(book));
        await appendAudit(transaction, change, { action: 'price_drafts.create', subject: subjectOf(id), after: describe(draft) });
        return true;
      }),
    listPriceDrafts: async () => {
      const rows = await database.all(`select ${summary} from price_drafts order by created_at_ms desc, id desc`);
      return rows.map(decodeSummary);
    },
    findPriceDraft: (id) => find(database, id),
    changePriceDraft: (id, edit, change) =>
      database.transact(async (transaction) => {
        const before = await find(transaction, id);
        if (before === undefined) return false;
        const { id: same, createdAtMs, actor } = before;
        const note = edit.note === undefined ? before.note : (edit.note ?? undefined);
        const after: PriceDraft = {
          id: same,
          createdAtMs,
          actor,
          ...(note !== undefined && { note }),
          name: edit.name ?? before.name,
          book: edit.book ?? before.book,
          changedAtMs: change.atMs,
        };
        const sql = 'update price_drafts set name = ?, note = ?, book = ?, changed_at_ms = ? where id = ?';
        const noted = note === undefined ? null : toStorableText(note);
        await transaction.run(sql, toStorableText(after.name), noted, toStorableText(after.book), after.changedAtMs, id);
        const states = { before: describe(before), after: describe(after) };
        await appendAudit(transaction, change, { action: 'price_drafts.update', subject: subjectOf(id), ...states });
        return true;
      }),
    deletePriceDraft: (id, change) =>
      database.transact(async (transaction) => {
        const before = await find(transaction, id);
        if (before === undefined) return false;
        await transaction.run('delete from price_drafts where id = ?', id);
        await appendAudit(transaction, change, { action: 'price_drafts.delete', subject: subjectOf(id), before: describe(before) });
        return true;
      }),
  };
}

const subjectOf = (id: string): string => `price_draft:${id}`;

/** A draft in the audit log: its prices are a digest there. */
function describe({ name, note, book }: PriceDraft): string {
  return JSON.stringify({ name, note, digest: createHash('sha256').update(book).digest('hex') });
}

async function find(database: Database, id: string): Promise<PriceDraft | undefined> {
  const row = await database.first(`select ${summary}, book from price_drafts where id = ?`, toStorableText(id));
  return row === undefined ? undefined : { ...decodeSummary(row), book: readText(row, 'book') };
}

function decodeSummary(row: SqlRow): PriceDraftSummary {
  const note = readOptionalText(row, 'note');
  return {
    id: readText(row, 'id'),
    name: readText(row, 'name'),
    ...(note !== undefined && { note }),
    createdAtMs: readInteger(row, 'created_at_ms'),
    changedAtMs: readInteger(row, 'changed_at_ms'),
    actor: readText(row, 'actor'),
  };
}
