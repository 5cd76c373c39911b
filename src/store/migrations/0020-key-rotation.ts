import type { Migration } from './migration.ts';

/**
 * A key has a previous secret after a rotation, and the time of its last use. The expiry, which is one of the limits,
 * also has a column, so that lists can select by it.
 */
export const keyRotation: Migration = {
  version: 20,
  name: 'key-rotation',
  shared: [
    'alter table api_keys add column previous_hash text',
    'alter table api_keys add column previous_until_ms bigint',
    'alter table api_keys add column expires_at_ms bigint',
    'alter table users add column expires_at_ms bigint',
    'create index api_keys_previous_hash on api_keys (previous_hash) where previous_hash is not null and deleted_at_ms is null',
    'create index api_keys_by_creation on api_keys (created_at_ms, id) where deleted_at_ms is null',
    `create table api_key_uses (
      key_id text not null primary key,
      used_at_ms bigint not null
    )`,
  ],
  sqlite: ['api_keys', 'users'].map(
    (table) => `update ${table} set expires_at_ms = json_extract(limits, '$.expiresAtMs') where limits is not null`,
  ),
  postgres: ['api_keys', 'users'].map(
    (table) => `update ${table} set expires_at_ms = cast(cast(limits as json) ->> 'expiresAtMs' as bigint) where limits is not null`,
  ),
};
