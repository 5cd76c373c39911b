import type { Migration } from './migration.ts';

/** Sessions of API keys and billing tokens. Secrets are stored as hashes. */
export const keySessions: Migration = {
  version: 41,
  name: 'key-sessions',
  shared: [
    `create table key_sessions (
      id text not null primary key,
      token_hash text not null unique,
      way text not null,
      holder_id text not null,
      secret_hash text not null,
      holder_version bigint not null,
      created_at_ms bigint not null,
      expires_at_ms bigint not null,
      address text,
      user_agent text
    )`,
    'create index key_sessions_by_holder on key_sessions (holder_id, created_at_ms)',
    'create index key_sessions_by_end on key_sessions (expires_at_ms)',
  ],
  sqlite: [],
  postgres: [],
};
