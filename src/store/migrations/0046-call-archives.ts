import type { Migration } from './migration.ts';

const archives = [
  // Files with rows that were dropped from `calls`, or are being dropped. `sums`: those of the file. `dropped`: those
  // of its rows that have left `calls` so far. Both as JSON, with amounts as decimal texts.
  `create table call_archives (
    id text not null primary key,
    from_ms bigint not null,
    until_ms bigint not null,
    state text not null,
    bytes bigint not null,
    sha256 text not null,
    sums text not null,
    dropped text not null,
    verified_at_ms bigint not null,
    dropped_at_ms bigint
  )`,
  // One process archives at a time. Rows accepted before `archived_until_ms` may be in an archive.
  `create table call_retention (
    id smallint not null primary key check (id = 1),
    owner text,
    lease_until_ms bigint not null,
    archived_until_ms bigint not null
  )`,
  'insert into call_retention (id, lease_until_ms, archived_until_ms) values (1, 0, 0)',
  // What the dropped rows of a transaction cost, so that the books still add up.
  `create table archived_spend (
    transaction_id text not null primary key,
    cost_kusd bigint not null,
    cost_nano bigint not null
  )`,
];

/**
 * A row of `calls` may be dropped only while a verified file has its time, and only if its facts are known: they keep
 * its id, so that the same call is never booked again.
 */
const isArchived = `exists (select 1 from call_archives where state = 'verified'
      and old.accepted_at_ms >= from_ms and old.accepted_at_ms < until_ms)
    and exists (select 1 from call_facts where call_facts.call_id = old.call_id)`;

export const callArchives: Migration = {
  version: 46,
  name: 'call-archives',
  shared: archives,
  sqlite: [
    'drop trigger calls_refuse_delete',
    `create trigger calls_refuse_delete before delete on calls when not (${isArchived})
    begin
      select raise(abort, 'the ledger is append-only: rows of calls are dropped only after they were archived');
    end`,
  ],
  postgres: [
    'drop trigger calls_refuse_change on calls',
    `create trigger calls_refuse_change before update or truncate on calls for each statement execute function refuse_change()`,
    `create function keep_calls() returns trigger language plpgsql as $$
      begin
        if ${isArchived} then return old; end if;
        raise exception 'the ledger is append-only: rows of calls are dropped only after they were archived';
      end
    $$`,
    'create trigger calls_keep before delete on calls for each row execute function keep_calls()',
  ],
};
