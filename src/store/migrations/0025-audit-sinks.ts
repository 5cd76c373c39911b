import type { Migration } from './migration.ts';

/** How far each sink of the audit log has come, and the process that sends to it. */
export const auditSinks: Migration = {
  version: 25,
  name: 'audit-sinks',
  shared: [
    `create table audit_sinks (
      name text not null primary key,
      sequence bigint not null,
      lease_owner text,
      lease_until_ms bigint not null
    )`,
  ],
  sqlite: [],
  postgres: [],
};
