import type { Migration } from './migration.ts';

/** What keys and users may use, as JSON; null where there is no limit. */
export const limits: Migration = {
  version: 4,
  name: 'limits',
  shared: ['alter table api_keys add column limits text', 'alter table users add column limits text'],
  sqlite: [],
  postgres: [],
};
