import type { Migration } from './migration.ts';

/** 1 for keys whose calls are refused if the interface of another vendor cannot carry all of a request. */
export const strictTranslation: Migration = {
  version: 3,
  name: 'strict-translation',
  shared: ['alter table api_keys add column strict_translation smallint not null default 0'],
  sqlite: [],
  postgres: [],
};
