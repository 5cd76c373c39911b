import type { Migration } from './migration.ts';

/**
 * Images whose files are kept for a time, because their clients received links. The id is the key of the file. The
 * table keeps its first name.
 */
export const pictures: Migration = {
  version: 17,
  name: 'pictures',
  shared: [
    `create table pictures (
      id text not null primary key,
      user_name text not null,
      key_id text not null,
      media_type text not null,
      media_bytes bigint not null,
      media_sha256 text not null,
      created_at_ms bigint not null,
      expires_at_ms bigint not null
    )`,
    'create index pictures_by_expiry on pictures (expires_at_ms, id)',
    'create index pictures_media_bytes on pictures (user_name, key_id, media_bytes)',
  ],
  sqlite: [],
  postgres: [],
};
