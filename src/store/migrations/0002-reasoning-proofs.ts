import type { Migration } from './migration.ts';

/**
 * Sealed reasoning proofs. `bytes` is the length of `sealed`; the counter is their sum, so that the limit can be
 * checked without reading the table.
 */
export const reasoningProofs: Migration = {
  version: 2,
  name: 'reasoning-proofs',
  shared: [
    `create table reasoning_proofs (
    lookup text not null primary key,
    sealed text not null,
    bytes bigint not null,
    expires_at_ms bigint not null
  )`,
    'create index reasoning_proofs_by_expiry on reasoning_proofs (expires_at_ms)',
    `insert into counters (name, value) values ('reasoning_proofs_bytes', 0)`,
  ],
  sqlite: [],
  postgres: [],
};
