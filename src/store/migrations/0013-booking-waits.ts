import type { Migration } from './migration.ts';

/**
 * Makes booking cheaper. The protection of booked calls against replacement no longer costs a look-up for each booking:
 * with recursive triggers, which all our connections use, `insert or replace` fires the trigger that refuses to delete.
 */
export const bookingWaits: Migration = {
  version: 13,
  name: 'booking-waits',
  // Days are added up again one by one for another time zone: those that begin before this minute do not exist yet.
  shared: ['alter table usage_day_zone add column from_minute bigint not null default -9007199254740991'],
  sqlite: ['drop trigger calls_keep_existing'],
  postgres: [],
};
