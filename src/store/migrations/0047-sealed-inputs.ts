import type { Migration } from './migration.ts';

/** Data for the process that runs an operation alone, sealed for it: the credentials of a layer under check. */
export const sealedInputs: Migration = {
  version: 47,
  name: 'sealed-inputs',
  shared: ['alter table operations add column sealed text'],
  sqlite: [],
  postgres: [],
};
