import type { Migration } from './migration.ts';

/** @param bytes the type of bytes in the engine */
const tables = (bytes: string): readonly string[] => [
  `create table idempotency_keys (
    key_id text not null,
    idempotency_key text not null,
    body_hash text not null,
    request_id text not null,
    owner text not null,
    state smallint not null default 0,
    created_at_ms bigint not null,
    expires_at_ms bigint not null,
    lease_until_ms bigint not null,
    chunks bigint not null default 0,
    head ${bytes},
    primary key (key_id, idempotency_key)
  )`,
  'create index idempotency_keys_by_expiry on idempotency_keys (expires_at_ms)',
  'create index idempotency_keys_open on idempotency_keys (owner) where state = 0',
  `create table idempotency_chunks (
    request_id text not null,
    sequence bigint not null,
    body ${bytes} not null,
    primary key (request_id, sequence)
  )`,
];

/**
 * Requests with idempotency keys, and their sealed answers. The columns `key` and `body_hash` are keyed hashes and not
 * the values of the client. `state`: 0 open, 1 kept, 2 spent.
 */
export const idempotency: Migration = { version: 10, name: 'idempotency', shared: [], sqlite: tables('blob'), postgres: tables('bytea') };
