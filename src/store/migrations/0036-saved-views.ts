import type { Migration } from './migration.ts';

/** Views of pages of the console, private or shared. */
export const savedViews: Migration = {
  version: 36,
  name: 'saved-views',
  shared: [
    `create table saved_views (
      id text not null primary key,
      owner text not null,
      actor text not null,
      name text not null,
      page text not null,
      query text not null,
      is_shared smallint not null,
      created_at_ms bigint not null,
      changed_at_ms bigint not null
    )`,
    'create index saved_views_by_owner on saved_views (owner)',
    'create index saved_views_by_time on saved_views (created_at_ms, id)',
  ],
  sqlite: [],
  postgres: [],
};
