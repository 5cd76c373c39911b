import type { Migration } from './migration.ts';

/** When the books were added up, and whether they were right. */
export const bookVerifications: Migration = {
  version: 44,
  name: 'book verifications',
  shared: [
    `create table book_verifications (
      id text not null primary key,
      author text not null,
      started_at_ms bigint not null,
      ended_at_ms bigint not null,
      checked bigint not null,
      problem_count bigint not null,
      problems text not null
    )`,
    'create index book_verifications_by_end on book_verifications (ended_at_ms, id)',
  ],
  sqlite: [],
  postgres: [],
};
