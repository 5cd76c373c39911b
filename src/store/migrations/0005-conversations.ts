import type { Migration } from './migrations.ts';

/**
 * Stored responses and conversations. Bodies are sealed bytes, which every engine calls differently. `number` joins rows where an id would be long, and
 * leads from a response to its predecessor in one step; `followers` counts the responses that lead to this one. A row that is `deleted` is there for
 * their sake alone.
 */
export const conversations: Migration = {
  version: 5,
  name: 'conversations',
  // For how long what a key stores is kept; null: as configured for all.
  shared: ['alter table api_keys add column response_retention_days bigint'],
  sqlite: [
    `create table responses (
    number integer primary key,
    user_name text not null,
    id text not null,
    key_id text not null,
    created_at_ms bigint not null,
    expires_at_ms bigint not null,
    status text not null,
    deleted smallint not null default 0,
    followers bigint not null default 0,
    previous_number bigint,
    previous_id text,
    conversation_id text,
    lease_until_ms bigint,
    item_bytes bigint not null,
    head blob not null,
    input blob not null,
    output blob not null,
    unique (user_name, id)
  )`,
    'create index responses_by_expiry on responses (expires_at_ms)',
    `create table response_items (
    item_key text not null,
    response_number bigint not null,
    part text not null,
    primary key (item_key, response_number)
  ) without rowid`,
    'create index response_items_by_response on response_items (response_number)',
    `create table response_events (
    response_number bigint not null,
    first_sequence bigint not null,
    events bigint not null,
    body blob not null,
    primary key (response_number, first_sequence)
  )`,
    `create table conversations (
    number integer primary key,
    user_name text not null,
    id text not null,
    created_at_ms bigint not null,
    kept_ms bigint,
    expires_at_ms bigint not null,
    items bigint not null default 0,
    next_position bigint not null default 0,
    lock_holder text,
    lock_until_ms bigint not null default 0,
    head blob not null,
    unique (user_name, id)
  )`,
    'create index conversations_by_expiry on conversations (expires_at_ms)',
    `create table conversation_items (
    conversation_number bigint not null,
    position bigint not null,
    item_key text not null,
    body blob not null,
    primary key (conversation_number, position)
  )`,
    'create unique index conversation_items_by_key on conversation_items (item_key, conversation_number)',
  ],
  postgres: [],
};
