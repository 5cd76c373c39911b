import type { Migration } from './migration.ts';

const settings = [
  `create table settings (
    name text not null primary key,
    value text not null
  )`,
  `create table counters (
    name text not null primary key,
    value bigint not null
  )`,
  `insert into counters (name, value) values ('keys_version', 0)`,
];

const accounts = [
  `create table users (
    id text not null primary key,
    name text not null unique,
    created_at_ms bigint not null
  )`,
  // A deleted key keeps its row, because booked calls refer to its id. Its name and its secret can be used again.
  `create table api_keys (
    id text not null primary key,
    user_id text not null references users (id),
    name text not null,
    hash text not null,
    hint text not null,
    created_at_ms bigint not null,
    disabled_at_ms bigint,
    deleted_at_ms bigint
  )`,
  'create unique index api_keys_living_name on api_keys (user_id, name) where deleted_at_ms is null',
  'create unique index api_keys_living_hash on api_keys (hash) where deleted_at_ms is null',
  `create table billing_tokens (
    id text not null primary key,
    name text not null unique,
    hash text not null unique,
    user_name text,
    created_at_ms bigint not null
  )`,
];

const ledger = [
  // `entry` is the whole entry as JSON; the other columns repeat what is searched for and added up. Few and short
  // columns make booking cheap. The columns from billed to use_time_ms are the entry's part in the statistics, so that
  // a cut minute can be added up from here.
  `create table calls (
    call_id text not null primary key,
    accepted_at_ms bigint not null,
    user_name text not null,
    key_name text not null,
    requested_model text not null,
    amount_nano_usd bigint not null,
    billed smallint not null,
    prompt_tokens bigint not null,
    completion_tokens bigint not null,
    cache_tokens bigint not null,
    cache_creation_tokens bigint not null,
    use_time_ms bigint not null,
    reply_id text,
    entry text not null
  )`,
  'create index calls_by_time on calls (accepted_at_ms, call_id)',
  'create index calls_by_reply on calls (reply_id) where reply_id is not null',
];

/**
 * The greatest 64-bit integer. SQLite silently turns a larger sum into a float; the check turns that into a refusal.
 */
const bigintMax = '9223372036854775807';

/**
 * A roll-up per unit of time (minutes or hours since 1970): sums of the billed calls of one user, key and requested
 * model.
 */
export function createRollUp(table: string, unit: string): string {
  return `create table ${table} (
    ${unit} bigint not null,
    user_name text not null,
    token_name text not null,
    model_name text not null,
    prompt_tokens bigint not null check (prompt_tokens <= ${bigintMax}),
    completion_tokens bigint not null check (completion_tokens <= ${bigintMax}),
    cache_tokens bigint not null check (cache_tokens <= ${bigintMax}),
    cache_creation_tokens bigint not null check (cache_creation_tokens <= ${bigintMax}),
    use_time_ms bigint not null check (use_time_ms <= ${bigintMax}),
    call_count bigint not null,
    amount_nano_usd bigint not null check (amount_nano_usd between -${bigintMax} and ${bigintMax}),
    primary key (${unit}, user_name, token_name, model_name)
  )`;
}

/** The function of the triggers on append-only tables. */
const appendOnlyFunction = `create function refuse_change() returns trigger language plpgsql as $$
  begin
    raise exception 'the ledger is append-only: rows of % are never changed or deleted', tg_table_name;
  end
$$`;

/** For PostgreSQL: refuses to change, delete or truncate rows of a table, for every role. */
export function refuseChanges(table: string): string {
  return `create trigger ${table}_refuse_change before update or delete or truncate on ${table} for each statement execute function refuse_change()`;
}

const appendOnly = [
  `create trigger calls_refuse_update before update on calls
  begin
    select raise(abort, 'the ledger is append-only: rows of calls are never changed');
  end`,
  `create trigger calls_refuse_delete before delete on calls
  begin
    select raise(abort, 'the ledger is append-only: rows of calls are never deleted');
  end`,
  // INSERT OR REPLACE deletes without firing delete triggers: this refuses every form of insert over an existing row.
  `create trigger calls_keep_existing before insert on calls
  when exists (select 1 from calls where call_id = new.call_id)
  begin
    select raise(ignore);
  end`,
];

export const initialSchema: Migration = {
  version: 1,
  name: 'initial-schema',
  shared: [...settings, ...accounts, ...ledger, createRollUp('usage_minutes', 'minute'), createRollUp('usage_hours', 'hour')],
  sqlite: appendOnly,
  postgres: [appendOnlyFunction, refuseChanges('calls')],
};
