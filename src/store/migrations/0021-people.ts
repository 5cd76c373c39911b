import type { Migration } from './migration.ts';

/** The people who administer Weir: their sessions, sign-in codes and admin tokens. Secrets are stored as hashes. */
export const people: Migration = {
  version: 21,
  name: 'people',
  shared: [
    `create table people (
      id text not null primary key,
      name text not null,
      name_key text not null unique,
      role text not null,
      created_at_ms bigint not null,
      disabled_at_ms bigint,
      password_hash text,
      oidc_issuer text,
      oidc_subject text,
      email text,
      revision bigint not null
    )`,
    'create unique index people_by_identity on people (oidc_issuer, oidc_subject)',
    `create table person_users (
      person_id text not null,
      user_name text not null,
      primary key (person_id, user_name)
    )`,
    `create table console_sessions (
      id text not null primary key,
      person_id text not null,
      token_hash text not null unique,
      previous_hash text,
      previous_until_ms bigint,
      way text not null,
      created_at_ms bigint not null,
      signed_in_at_ms bigint not null,
      token_since_ms bigint not null,
      used_at_ms bigint not null,
      expires_at_ms bigint not null,
      address text,
      user_agent text
    )`,
    'create index console_sessions_by_person on console_sessions (person_id, created_at_ms)',
    'create index console_sessions_by_previous on console_sessions (previous_hash)',
    `create table sign_in_codes (
      hash text not null primary key,
      person_id text not null,
      created_at_ms bigint not null,
      expires_at_ms bigint not null
    )`,
    'create index sign_in_codes_by_person on sign_in_codes (person_id)',
    // Permissions and users are JSON lists of names; no users means all.
    `create table admin_tokens (
      id text not null primary key,
      name text not null unique,
      hash text not null unique,
      hint text not null,
      permissions text not null,
      users text,
      maker_id text,
      created_at_ms bigint not null,
      expires_at_ms bigint not null,
      previous_hash text,
      previous_until_ms bigint,
      revision bigint not null
    )`,
    'create index admin_tokens_by_previous on admin_tokens (previous_hash)',
    `create table admin_token_uses (
      token_id text not null primary key,
      used_at_ms bigint not null
    )`,
  ],
  sqlite: [],
  postgres: [],
};
