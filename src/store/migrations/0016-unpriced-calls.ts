import type { Migration } from './migration.ts';

/**
 * 1 for rows that cost 0 because nothing in their usage has a price, so that they are found without reading all others.
 */
export const unpricedCalls: Migration = {
  version: 16,
  name: 'unpriced-calls',
  shared: [
    'alter table calls add column unpriced smallint not null default 0',
    'create index calls_unpriced on calls (accepted_at_ms) where unpriced = 1',
  ],
  sqlite: [],
  postgres: [],
};
