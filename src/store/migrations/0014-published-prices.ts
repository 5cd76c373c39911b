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
  // The prices behind a price version: the first gateway that uses the version writes them.
  `create table price_versions (
    version text not null primary key,
    basis text not null,
    recorded_at_ms bigint not null
  )`,
];

const keys = { price_books: 'number', price_versions: 'version' } as const;

/**
 * An insert that replaces a row deletes it without firing delete triggers: these triggers keep the existing row,
 * whatever the form of the insert.
 */
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

/** Price books that are published for all gateways, and the prices behind the price versions of receipts. */
export const publishedPrices: Migration = {
  version: 14,
  name: 'published-prices',
  shared: tables,
  sqlite: appendOnlySqlite,
  postgres: Object.keys(keys).map(refuseChanges),
};
