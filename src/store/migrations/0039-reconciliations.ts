import type { Migration } from './migration.ts';

/** Comparisons of the ledger with vendors' exports. */
export const reconciliations: Migration = {
  version: 39,
  name: 'reconciliations',
  shared: [
    `create table reconciliations (
      id text not null primary key,
      created_at_ms bigint not null,
      actor text not null,
      vendor text not null,
      upstream text,
      kind text not null,
      time_zone text not null,
      start_ms bigint not null,
      end_ms bigint not null,
      tolerance text not null,
      prices text not null,
      file_name text not null,
      file_bytes bigint not null,
      file_sha256 text not null,
      account text not null,
      operation_id text,
      result text,
      summary text,
      ended_at_ms bigint,
      note text,
      accepted_at_ms bigint,
      accepted_by text
    )`,
    'create index reconciliations_by_time on reconciliations (created_at_ms, id)',
  ],
  sqlite: [],
  postgres: [],
};
