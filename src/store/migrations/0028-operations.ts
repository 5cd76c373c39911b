import type { Migration } from './migration.ts';

/** Work of the admin API that takes longer than a request. */
export const operations: Migration = {
  version: 28,
  name: 'operations',
  shared: [
    `create table operations (
      id text not null primary key,
      kind text not null,
      state text not null,
      permission text not null,
      actor text not null,
      input text not null,
      progress text,
      result text,
      problem text,
      is_cancelling bigint not null,
      version bigint not null,
      attempts bigint not null,
      created_at_ms bigint not null,
      started_at_ms bigint,
      ended_at_ms bigint,
      start_by_ms bigint,
      keep_until_ms bigint,
      lease_owner text,
      lease_until_ms bigint not null
    )`,
    'create index operations_open on operations (created_at_ms) where ended_at_ms is null',
    'create index operations_over on operations (keep_until_ms) where keep_until_ms is not null',
  ],
  sqlite: [],
  postgres: [],
};
