import type { Migration } from './migration.ts';

/** 1 for keys whose calls are refused where another vendor's interface cannot carry everything. */
export const strictTranslation: Migration = {
  version: 3,
  name: 'strict-translation',
  shared: ['alter table api_keys add column strict_translation smallint not null default 0'],
  sqlite: [],
  postgres: [],
};
