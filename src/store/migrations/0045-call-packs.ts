import type { Migration } from './migration.ts';

/**
 * Sums of call_facts by user, key, model, team and tags, of one hour (`kind` 0) or one day (1) in one value: see
 * operations/usage/call-packs. Minutes count since 1970. `number` is never used twice, so the bytes of a number never
 * change. 0 stands for an hour that must be added up again, a negative number for one that is being added up. `form`: 0
 * whole, 1 without user, key and model, 2 too large for a pack.
 */
const createPacks = (bytes: 'blob' | 'bytea'): string => `create table call_packs (
    kind smallint not null,
    from_minute bigint not null,
    until_minute bigint not null,
    number bigint not null,
    form smallint not null,
    sums ${bytes} not null,
    primary key (kind, from_minute)
  )`;

const indexes = [
  'create unique index call_packs_by_number on call_packs (number) where number > 0',
  'create index call_packs_unfinished on call_packs (from_minute) where number <= 0',
];

/** No day of any time zone is longer, in minutes. */
const longestDay = 26 * 60;

/**
 * Every hour with facts between `packed_from_ms` and `packed_until_ms` has a row in call_packs. Triggers rather than
 * statements of the follower, so that a follower of an earlier version that still runs forgets packs too.
 */
export const callPacks: Migration = {
  version: 45,
  name: 'call-packs',
  shared: [
    'alter table call_follow add column packed_from_ms bigint not null default 0',
    'alter table call_follow add column packed_until_ms bigint not null default 0',
    // The zone of the days.
    "alter table call_follow add column packed_zone text not null default 'UTC'",
    'alter table call_follow add column last_pack bigint not null default 0',
  ],
  sqlite: [
    createPacks('blob'),
    ...indexes,
    `create trigger call_facts_added after insert on call_facts
      when new.at_ms < (select packed_until_ms from call_follow) and new.at_ms >= (select packed_from_ms from call_follow)
      begin
        insert into call_packs (kind, from_minute, until_minute, number, form, sums)
          values (0, new.at_ms / 3600000 * 60, new.at_ms / 3600000 * 60 + 60, 0, 0, x'')
          on conflict (kind, from_minute) do update set number = 0, sums = x'';
        delete from call_packs where kind = 1 and from_minute > new.at_ms / 60000 - ${longestDay}
          and from_minute <= new.at_ms / 60000 and until_minute > new.at_ms / 60000;
      end`,
  ],
  postgres: [
    createPacks('bytea'),
    // Compressing them takes longer than reading them.
    'alter table call_packs alter column sums set storage external',
    ...indexes,
    `create function forget_call_packs() returns trigger language plpgsql security definer set search_path from current as $$
      begin
        insert into call_packs (kind, from_minute, until_minute, number, form, sums)
          select distinct 0, added.at_ms / 3600000 * 60, added.at_ms / 3600000 * 60 + 60, 0, 0, ''::bytea from added cross join call_follow
            where added.at_ms < packed_until_ms and added.at_ms >= packed_from_ms
          on conflict (kind, from_minute) do update set number = 0, sums = excluded.sums;
        delete from call_packs using added, call_follow where kind = 1 and from_minute > added.at_ms / 60000 - ${longestDay}
          and from_minute <= added.at_ms / 60000 and until_minute > added.at_ms / 60000
          and added.at_ms < packed_until_ms and added.at_ms >= packed_from_ms;
        return null;
      end
    $$`,
    `create trigger call_facts_added after insert on call_facts referencing new table as added
      for each statement execute function forget_call_packs()`,
  ],
};
