import type { Migration } from './migration.ts';

/**
 * The sums of a day that has ended, of all its groups, in one value (see operations/usage/day-pack.ts). A pack is
 * derived from the rows of usage_days and is deleted with any change of them, so a day with a pack has the sums of its
 * rows. `number` is never used twice: the bytes of a number never change. 0 stands for a day with too many
 * groups for a pack.
 */
const createPacks = (bytes: 'blob' | 'bytea'): string => `create table usage_packs (
    day bigint not null,
    number bigint not null,
    sums ${bytes} not null,
    primary key (day, number)
  )`;

const sqliteTrigger = (name: string, event: string, day: string): string =>
  `create trigger ${name} after ${event} on usage_days begin delete from usage_packs where day = ${day}; end`;

const postgresTrigger = (name: string, event: string, rows: 'new' | 'old'): string =>
  `create trigger ${name} after ${event} on usage_days referencing ${rows} table as changed for each statement execute function forget_packs()`;

/**
 * Triggers rather than statements of a booking, so that a program of an earlier version that still runs forgets packs
 * too.
 */
export const usagePacks: Migration = {
  version: 38,
  name: 'usage-packs',
  shared: ['alter table usage_day_zone add column last_pack bigint not null default 0'],
  sqlite: [
    createPacks('blob'),
    sqliteTrigger('usage_days_added', 'insert', 'new.day'),
    sqliteTrigger('usage_days_changed', 'update', 'new.day'),
    sqliteTrigger('usage_days_deleted', 'delete', 'old.day'),
    `create trigger usage_day_zone_changed after update of time_zone on usage_day_zone when new.time_zone <> old.time_zone
      begin delete from usage_packs; end`,
  ],
  postgres: [
    createPacks('bytea'),
    // Compressing them takes longer than reading them.
    'alter table usage_packs alter column sums set storage external',
    `create function forget_packs() returns trigger language plpgsql security definer set search_path from current as $$
      begin
        delete from usage_packs where day in (select day from changed);
        return null;
      end
    $$`,
    postgresTrigger('usage_days_added', 'insert', 'new'),
    postgresTrigger('usage_days_changed', 'update', 'new'),
    postgresTrigger('usage_days_deleted', 'delete', 'old'),
    `create function forget_all_packs() returns trigger language plpgsql security definer set search_path from current as $$
      begin
        delete from usage_packs;
        return null;
      end
    $$`,
    `create trigger usage_day_zone_changed after update of time_zone on usage_day_zone
      for each row when (new.time_zone <> old.time_zone) execute function forget_all_packs()`,
  ],
};
