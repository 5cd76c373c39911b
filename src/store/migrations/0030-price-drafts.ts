import type { Migration } from './migration.ts';

/** Prices that somebody prepares. */
export const priceDrafts: Migration = {
  version: 30,
  name: 'price-drafts',
  shared: [
    `create table price_drafts (
      id text not null primary key,
      name text not null,
      note text,
      book text not null,
      created_at_ms bigint not null,
      changed_at_ms bigint not null,
      actor text not null
    )`,
  ],
  sqlite: [],
  postgres: [],
};
