import { refuseChanges } from './0001-initial-schema.ts';
import type { Migration } from './migration.ts';

/** An amount that may exceed 64 bits: whole thousands of USD, and the rest in nano-USD, which is never negative. */
const wide = (name: string): string => `${name}_kusd bigint not null,\n    ${name}_nano bigint not null`;

const ledger = [
  // `postings` is the number of postings to the account, and the number of the last one.
  `create table ledger_accounts (
    account_id text not null primary key,
    kind text not null,
    user_name text,
    ${wide('balance')},
    postings bigint not null
  )`,
  // `amount` is the change of the user's account. A usage transaction covers one key on one day (UTC) in one batch of
  // calls.
  `create table ledger_transactions (
    transaction_id text not null primary key,
    kind text not null,
    user_name text not null,
    ${wide('amount')},
    posted_at_ms bigint not null,
    key_id text,
    day text,
    call_id text,
    actor text,
    note text
  )`,
  'create index ledger_transactions_by_user on ledger_transactions (user_name, posted_at_ms, transaction_id)',
  'create index ledger_transactions_by_day on ledger_transactions (key_id, day) where key_id is not null',
  `create table ledger_postings (
    account_id text not null,
    sequence bigint not null,
    transaction_id text not null,
    ${wide('amount')},
    ${wide('balance_after')},
    primary key (account_id, sequence)
  )`,
  'create index ledger_postings_by_transaction on ledger_postings (transaction_id)',
  'alter table calls add column key_id text',
  'alter table calls add column held_pots smallint',
  'alter table calls add column transaction_id text',
  'create index calls_by_transaction on calls (transaction_id) where transaction_id is not null',
];

const spending = [
  // What a key has spent in a period: a day, a month, or `total`. The key `base` has what was spent before this ledger
  // existed.
  `create table spend_periods (
    user_name text not null,
    period text not null,
    key_id text not null,
    ${wide('spent')},
    ${wide('base')},
    primary key (user_name, period, key_id)
  )`,
];

const leases = [
  `create table credit_nodes (
    node_id text not null primary key,
    session_id text not null,
    seen_at_ms bigint not null
  )`,
  `create table credit_leases (
    pot_id text not null,
    node_id text not null,
    user_name text not null,
    generation text not null,
    version bigint not null,
    granted_nano_usd bigint not null,
    shipped_nano_usd bigint not null,
    closing smallint not null,
    recalled smallint not null,
    primary key (pot_id, node_id)
  )`,
  'create index credit_leases_by_node on credit_leases (node_id, pot_id)',
  "insert into counters (name, value) values ('credits_version', 0)",
];

/**
 * Calls from before this version count as spent too, so that a limit that is set now includes them. PostgreSQL has none
 * at this version.
 */
const backfill = ['%Y-%m-%d', '%Y-%m', 'total'].map(
  (period) => `insert into spend_periods (user_name, period, key_id, spent_kusd, spent_nano, base_kusd, base_nano)
    select user_name, period, key_id, kusd + nano / 1000000000000, nano % 1000000000000, kusd + nano / 1000000000000, nano % 1000000000000 from (
      select user_name, strftime('${period}', accepted_at_ms / 1000, 'unixepoch') as period, json_extract(entry, '$.keyId') as key_id,
        sum(amount_nano_usd / 1000000000000) as kusd, sum(amount_nano_usd % 1000000000000) as nano
      from calls where amount_nano_usd > 0 and json_extract(entry, '$.keyId') is not null group by 1, 2, 3
    )`,
);

const appendOnlySqlite = ['ledger_transactions', 'ledger_postings'].flatMap((table) => [
  `create trigger ${table}_refuse_update before update on ${table}
  begin
    select raise(abort, 'the ledger is append-only: rows of ${table} are never changed');
  end`,
  `create trigger ${table}_refuse_delete before delete on ${table}
  begin
    select raise(abort, 'the ledger is append-only: rows of ${table} are never deleted');
  end`,
]);

/** An insert that replaces a row deletes it without firing the triggers above. */
const keepExisting = [
  `create trigger ledger_transactions_keep_existing before insert on ledger_transactions
  when exists (select 1 from ledger_transactions where transaction_id = new.transaction_id)
  begin
    select raise(ignore);
  end`,
  `create trigger ledger_postings_keep_existing before insert on ledger_postings
  when exists (select 1 from ledger_postings where account_id = new.account_id and sequence = new.sequence)
  begin
    select raise(abort, 'the ledger is append-only: a posting has this number already');
  end`,
];

/** The double-entry ledger of accounts, what keys have spent, and what processes have leased. */
export const credits: Migration = {
  version: 8,
  name: 'credits',
  shared: [...ledger, ...spending, ...leases],
  sqlite: [...backfill, ...appendOnlySqlite, ...keepExisting],
  postgres: ['ledger_transactions', 'ledger_postings'].map(refuseChanges),
};
