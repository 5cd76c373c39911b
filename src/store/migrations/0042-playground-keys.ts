import type { Migration } from './migration.ts';

const playgroundTable = (bytes: string): string => `create table playground_keys (
  key_id text not null primary key,
  session_id text not null,
  created_at_ms bigint not null,
  expires_at_ms bigint not null,
  sealed ${bytes} not null
)`;
const bySession = 'create index playground_keys_by_session on playground_keys (session_id)';

/** The sealed secrets of keys that exist for one session of the console. */
export const playgroundKeys: Migration = {
  version: 42,
  name: 'playground keys',
  shared: [],
  sqlite: [playgroundTable('blob'), bySession],
  postgres: [playgroundTable('bytea'), bySession],
};
