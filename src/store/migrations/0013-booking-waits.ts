import type { Migration } from './migration.ts';

/**
 * What books waits less. What keeps a booked call from being replaced no longer costs each booking a look: with recursive triggers, which every connection of ours has, `insert or replace` fires the trigger that refuses to
 * delete.
 */
export const bookingWaits: Migration = {
  version: 13,
  name: 'booking-waits',
  // Days are added up anew for another zone one by one: those that begin before this minute are not there yet.
  shared: ['alter table usage_day_zone add column from_minute bigint not null default -9007199254740991'],
  sqlite: ['drop trigger calls_keep_existing'],
  postgres: [],
};
