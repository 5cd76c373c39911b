import { refuseChanges } from './0001-initial-schema.ts';
import type { Migration } from './migration.ts';

/** The audit log: one row for each change that an operator makes, bound to the row before it by its hash. */
export const auditLog: Migration = {
  version: 18,
  name: 'audit-log',
  shared: [
    `create table audit_log (
      sequence bigint not null primary key,
      at_ms bigint not null,
      actor text not null,
      via text not null,
      action text not null,
      subject text not null,
      before_json text,
      after_json text,
      note text,
      address text,
      request_id text,
      hash text not null
    )`,
    'create index audit_log_by_subject on audit_log (subject, sequence)',
    'create index audit_log_by_actor on audit_log (actor, sequence)',
    // The last row's sequence and hash. It also shows if rows at the end are missing.
    'create table audit_head (id smallint not null primary key, sequence bigint not null, hash text not null)',
    "insert into audit_head (id, sequence, hash) values (1, 0, '')",
  ],
  sqlite: [
    `create trigger audit_log_refuse_update before update on audit_log
    begin
      select raise(abort, 'the audit log is append-only: its rows are never changed');
    end`,
    `create trigger audit_log_refuse_delete before delete on audit_log
    begin
      select raise(abort, 'the audit log is append-only: its rows are never deleted');
    end`,
    // INSERT OR REPLACE deletes without firing delete triggers: this refuses every form of insert over an existing row.
    `create trigger audit_log_keep_existing before insert on audit_log
    when exists (select 1 from audit_log where sequence = new.sequence)
    begin
      select raise(abort, 'the audit log is append-only: its rows are never replaced');
    end`,
  ],
  postgres: [refuseChanges('audit_log')],
};
