import type { Migration } from './migration.ts';

/** The limits of keys and users as JSON; null without limits. */
export const limits: Migration = {
  version: 4,
  name: 'limits',
  shared: ['alter table api_keys add column limits text', 'alter table users add column limits text'],
  sqlite: [],
  postgres: [],
};
