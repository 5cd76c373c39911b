import type { Migration } from './migration.ts';

/** 1 for rows whose upstream reported impossible figures, so that they are found without reading all others. */
export const disputedCalls: Migration = {
  version: 15,
  name: 'disputed-calls',
  shared: [
    'alter table calls add column disputed smallint not null default 0',
    'create index calls_disputed on calls (accepted_at_ms, call_id) where disputed = 1',
  ],
  sqlite: [],
  postgres: [],
};
