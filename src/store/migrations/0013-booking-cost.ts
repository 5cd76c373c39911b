import type { Migration } from './migrations.ts';

/**
 * What keeps a booked call from being replaced no longer costs each booking a look: with recursive triggers, which every connection of ours has, `insert or replace` fires the trigger that refuses to
 * delete.
 */
export const bookingCost: Migration = {
  version: 13,
  name: 'booking-cost',
  shared: [],
  sqlite: ['drop trigger calls_keep_existing'],
  postgres: [],
};
