import type { Migration } from './migration.ts';

/** What is done when clients of a key leave their calls; null is as configured for all. */
export const disconnectPolicy: Migration = {
  version: 9,
  name: 'disconnect-policy',
  shared: ['alter table api_keys add column disconnect_policy text'],
  sqlite: [],
  postgres: [],
};
