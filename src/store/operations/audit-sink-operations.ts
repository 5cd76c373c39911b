import type { AuditSinkStore } from '../../audit/sinks/audit-sink.ts';
import type { Database } from './database.ts';
import { readInteger } from './read-column.ts';

/** The SQL of the positions of audit sinks. */
export function createAuditSinkOperations(database: Database): AuditSinkStore {
  return {
    claimAuditSink: async ({ name, owner, nowMs, leaseUntilMs }) => {
      const behind = `select coalesce(s.sequence, 0) as sequence from audit_head h left join audit_sinks s on s.name = ?
        where h.id = 1 and h.sequence > coalesce(s.sequence, 0)`;
      // Usually a sink has all rows; then nothing is written.
      if ((await database.first(behind, name)) === undefined) return undefined;
      return await database.transact(async (transaction) => {
        await transaction.run('insert into audit_sinks (name, sequence, lease_until_ms) values (?, 0, 0) on conflict do nothing', name);
        const lease = `update audit_sinks set lease_owner = ?, lease_until_ms = ?
          where name = ? and (lease_until_ms <= ? or lease_owner = ?)`;
        if ((await transaction.run(lease, owner, leaseUntilMs, name, nowMs, owner)) === 0) return undefined;
        const row = await transaction.first(behind, name);
        return row === undefined ? undefined : readInteger(row, 'sequence');
      }, 'read-committed');
    },
    advanceAuditSink: async ({ name, owner, sequence }) => {
      const sql = 'update audit_sinks set sequence = ?, lease_owner = null, lease_until_ms = 0 where name = ? and lease_owner = ?';
      return (await database.run(sql, sequence, name, owner)) === 1;
    },
  };
}
