import type { Migration } from './migration.ts';

/**
 * Sign-ins of command lines on other machines, for ten minutes each. Codes are stored as hashes. `asked` and
 * `permissions` are JSON lists of names; no `users` means all.
 */
export const deviceSignIns: Migration = {
  version: 37,
  name: 'device-sign-ins',
  shared: [
    `create table device_sign_ins (
      id text not null primary key,
      device_hash text not null unique,
      user_hash text not null unique,
      client_name text not null,
      address text,
      asked text,
      lasts_ms bigint not null,
      created_at_ms bigint not null,
      expires_at_ms bigint not null,
      interval_ms bigint not null,
      polled_at_ms bigint,
      state text not null,
      permissions text,
      users text,
      maker_id text,
      decided_by text
    )`,
    'create index device_sign_ins_by_end on device_sign_ins (expires_at_ms)',
  ],
  sqlite: [],
  postgres: [],
};
