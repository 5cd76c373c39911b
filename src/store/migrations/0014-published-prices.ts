import { refuseChanges } from './0001-initial-schema.ts';
import type { Migration } from './migration.ts';

const tables = [
  `create table price_books (
    number bigint not null primary key,
    digest text not null,
    label text not null,
    scope text not null,
    effective_from text not null,
    published_at_ms bigint not null,
    actor text not null,
    note text,
    book text not null
  )`,
  // What the charges of a version were computed from: the first gateway that has it in force writes it down.
  `create table price_versions (
    version text not null primary key,
    basis text not null,
    recorded_at_ms bigint not null
  )`,
];

const keys = { price_books: 'number', price_versions: 'version' } as const;

/** An insert that replaces deletes without a word to triggers of deletion: what is there stays, however the insert is worded. */
const appendOnlySqlite = Object.entries(keys).flatMap(([table, key]) => [
  `create trigger ${table}_refuse_update before update on ${table}
  begin
    select raise(abort, 'price books are append-only: rows of ${table} are never changed');
  end`,
  `create trigger ${table}_refuse_delete before delete on ${table}
  begin
    select raise(abort, 'price books are append-only: rows of ${table} are never deleted');
  end`,
  `create trigger ${table}_keep_existing before insert on ${table}
  when exists (select 1 from ${table} where ${key} = new.${key})
  begin
    select raise(ignore);
  end`,
]);

/** Price books that are published for all gateways, and what stood behind the price versions of receipts. */
export const publishedPrices: Migration = {
  version: 14,
  name: 'published-prices',
  shared: tables,
  sqlite: appendOnlySqlite,
  postgres: Object.keys(keys).map(refuseChanges),
};
