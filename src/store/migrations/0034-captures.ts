import type { Migration } from './migration.ts';

const capturedCalls = (bytes: string): string => `create table captured_calls (
  call_id text not null primary key,
  capture_id text not null,
  user_name text not null,
  at_ms bigint not null,
  expires_at_ms bigint not null,
  bytes bigint not null,
  sealed ${bytes} not null
)`;

/** Orders to keep calls of a key for debugging, and the kept calls, sealed. */
export const captures: Migration = {
  version: 34,
  name: 'captures',
  shared: [
    `create table captures (
      id text not null primary key,
      key_id text not null,
      key_name text not null,
      user_name text not null,
      calls bigint not null,
      taken bigint not null,
      created_at_ms bigint not null,
      until_ms bigint not null,
      created_by text not null
    )`,
    'create index captures_by_end on captures (until_ms)',
  ],
  sqlite: [capturedCalls('blob'), 'create index captured_calls_by_capture on captured_calls (capture_id)'],
  postgres: [capturedCalls('bytea'), 'create index captured_calls_by_capture on captured_calls (capture_id)'],
};
