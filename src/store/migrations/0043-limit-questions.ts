import type { Migration } from './migration.ts';

/** Whose use of rate limits consoles ask gateways for. */
export const limitQuestions: Migration = {
  version: 43,
  name: 'limit questions',
  shared: [
    `create table limit_questions (
      scope text not null,
      subject_id text not null,
      number bigint not null,
      asked_at_ms bigint not null,
      primary key (scope, subject_id)
    )`,
  ],
  sqlite: [],
  postgres: [],
};
