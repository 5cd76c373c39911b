import type { PriceBookStore, PriceBookSummary } from '../../billing/price-books/price-book-store.ts';
import { appendAudit } from './audit-operations.ts';
import { StoreError } from '../store-error.ts';
import type { Database } from './database.ts';
import type { SqlRow } from './sql-values.ts';
import { readInteger, readOptionalText, readText } from './read-column.ts';

const summary = 'number, digest, label, scope, effective_from, published_at_ms, actor, note';

/** The SQL of published price books and of the prices behind price versions. It never changes an existing row. */
export function createPriceBookOperations(database: Database): PriceBookStore {
  return {
    insertPriceBook: ({ number, digest, label, scope, effectiveFrom, publishedAtMs, actor, note, book }, change) => {
      const sql = `insert into price_books (${summary}, book) values (?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (number) do nothing`;
      const values = [number, digest, label, scope, effectiveFrom, publishedAtMs, actor, note ?? null, book] as const;
      return database.transact(async (transaction) => {
        if ((await transaction.run(sql, ...values)) === 0) return false;
        const after = JSON.stringify({ number, digest, label, scope, effectiveFrom });
        await appendAudit(
          transaction,
          { ...change, ...(note !== undefined && { note }) },
          { action: 'prices.publish', subject: `price_book:${number}`, after },
        );
        return true;
      });
    },
    newestPriceBook: async () => {
      const row = await database.first(`select ${summary} from price_books order by number desc limit 1`);
      return row === undefined ? undefined : decodeSummary(row);
    },
    findPriceBook: async (number) => {
      const row = await database.first(`select ${summary}, book from price_books where number = ?`, number);
      return row === undefined ? undefined : { ...decodeSummary(row), book: readText(row, 'book') };
    },
    listPriceBooks: async ({ before = Number.MAX_SAFE_INTEGER, limit }) => {
      const sql = `select ${summary} from price_books where number < ? order by number desc limit ?`;
      return (await database.all(sql, before, limit)).map(decodeSummary);
    },
    recordPrices: async ({ version, basis, recordedAtMs }) => {
      const sql = 'insert into price_versions (version, basis, recorded_at_ms) values (?, ?, ?) on conflict (version) do nothing';
      await database.run(sql, version, basis, recordedAtMs);
    },
    findRecordedPrices: async (version) => {
      const row = await database.first('select version, basis, recorded_at_ms from price_versions where version = ?', version);
      if (row === undefined) return undefined;
      return { version: readText(row, 'version'), basis: readText(row, 'basis'), recordedAtMs: readInteger(row, 'recorded_at_ms') };
    },
  };
}

function decodeSummary(row: SqlRow): PriceBookSummary {
  const note = readOptionalText(row, 'note');
  return {
    number: readInteger(row, 'number'),
    digest: readText(row, 'digest'),
    label: readText(row, 'label'),
    scope: readScope(row),
    effectiveFrom: readText(row, 'effective_from'),
    publishedAtMs: readInteger(row, 'published_at_ms'),
    actor: readText(row, 'actor'),
    ...(note === undefined ? {} : { note }),
  };
}

function readScope(row: SqlRow): PriceBookSummary['scope'] {
  const scope = readText(row, 'scope');
  if (scope === 'override' || scope === 'whole') return scope;
  throw new StoreError('corrupt', 'Column scope is neither override nor whole.');
}
