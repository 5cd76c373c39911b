import type { Migration } from './migration.ts';

/** The state of gateways, and the orders of operators to them. */
export const control: Migration = {
  version: 31,
  name: 'control',
  shared: [
    `create table node_reports (
      node_id text not null primary key,
      at_ms bigint not null,
      report text not null,
      description text not null
    )`,
    `create table target_overrides (
      target_id text not null primary key,
      reason text not null,
      actor text not null,
      set_at_ms bigint not null,
      until_ms bigint not null
    )`,
    'create table control_signals (name text not null primary key, value bigint not null)',
  ],
  sqlite: [],
  postgres: [],
};
