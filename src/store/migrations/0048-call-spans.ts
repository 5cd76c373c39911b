import type { Migration } from './migration.ts';

/**
 * Columns of call_facts whose names have spans. No name has the number 0, so the place of a column stands for calls
 * without a name in it.
 */
const columns = ['user_ref', 'key_ref', 'model_ref', 'upstream_ref'];
const indexes = ['call_facts_by_user', 'call_facts_by_key', 'call_facts_by_model', 'call_facts_by_upstream'];

/** The spans of calls that have facts already: see operations/facts/call-spans.ts. */
const fill = (column: string, at: number): string => `insert into call_spans (ref, slot, first_number, last_number)
    select case ${column} when 0 then ${-1 - at} else ${column} end, at_ms / 10000, min(number), max(number)
      from call_facts group by ${column}, at_ms / 10000, number / 256`;

const spanOfOne = (column: string, at: number): string => `select case new.${column} when 0 then ${-1 - at} else new.${column} end as ref`;

/**
 * In place of four indexes of call_facts: the numbers between which the calls of a name lie, for each ten seconds. A
 * batch of bookings writes a few of them, where each call had an entry in each index. On PostgreSQL the numbers of
 * facts are not the places of their rows, so the indexes stay.
 */
export const callSpans: Migration = {
  version: 48,
  name: 'call-spans',
  shared: [],
  sqlite: [
    `create table call_spans (
      ref bigint not null,
      slot bigint not null,
      first_number bigint not null,
      last_number bigint not null,
      primary key (ref, slot, first_number)
    ) without rowid`,
    ...columns.map(fill),
    ...indexes.map((index) => `drop index ${index}`),
    // 1 while a program adds facts that writes their spans itself.
    'alter table call_follow add column writes_spans smallint not null default 0',
    // A follower of an earlier version that still runs writes no spans. One condition, because each call pays for it.
    'drop trigger call_facts_added',
    `create trigger call_facts_added after insert on call_facts
      when (select writes_spans = 0 or (new.at_ms < packed_until_ms and new.at_ms >= packed_from_ms) from call_follow)
      begin
        insert into call_packs (kind, from_minute, until_minute, number, form, sums)
          select 0, new.at_ms / 3600000 * 60, new.at_ms / 3600000 * 60 + 60, 0, 0, x'' from call_follow
            where new.at_ms < packed_until_ms and new.at_ms >= packed_from_ms
          on conflict (kind, from_minute) do update set number = 0, sums = x'';
        delete from call_packs where kind = 1 and from_minute > new.at_ms / 60000 - 1560
          and from_minute <= new.at_ms / 60000 and until_minute > new.at_ms / 60000
          and (select new.at_ms < packed_until_ms and new.at_ms >= packed_from_ms from call_follow);
        insert into call_spans (ref, slot, first_number, last_number)
          select names.ref, new.at_ms / 10000, new.number, new.number
            from (${columns.map(spanOfOne).join(' union ')}) as names cross join call_follow where writes_spans = 0;
      end`,
  ],
  postgres: [],
};
