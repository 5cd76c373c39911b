import type { Migration } from './migration.ts';

/** The reaction to clients of a key that disconnect; null: as configured. */
export const disconnectPolicy: Migration = {
  version: 9,
  name: 'disconnect-policy',
  shared: ['alter table api_keys add column disconnect_policy text'],
  sqlite: [],
  postgres: [],
};
