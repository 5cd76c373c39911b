import assert from 'node:assert/strict';
import { test } from 'node:test';

import { type AuditEntry, type AuditHead, type AuditStore, chainEntry, firstHead } from './audit-entry.ts';
import { changeAt } from './testing/test-change.ts';
import { verifyAudit } from './verify-audit.ts';

function chain(count: number): AuditEntry[] {
  const entries: AuditEntry[] = [];
  let head: AuditHead = firstHead;
  for (let index = 0; index < count; index += 1) {
    const entry = chainEntry(head, changeAt(index), { action: 'users.create', subject: `user:${index}`, after: '{}' });
    entries.push(entry);
    head = entry;
  }
  return entries;
}

/** A store of these rows whose head is as it is stored beside them. */
function storeOf(
  entries: readonly AuditEntry[],
  head: AuditHead = entries.at(-1) ?? firstHead,
): Pick<AuditStore, 'readAudit' | 'auditHead'> {
  return {
    readAudit: async (after, limit) => entries.filter(({ sequence }) => sequence > after).slice(0, limit),
    auditHead: async () => ({ sequence: head.sequence, hash: head.hash }),
  };
}

test('an unbroken chain of several pages is verified, and so is an empty log', async () => {
  const verdict = await verifyAudit(storeOf(chain(2345)));
  assert.deepEqual([verdict.rows, verdict.brokenAt], [2345, undefined]);
  assert.deepEqual(await verifyAudit(storeOf([])), { rows: 0, head: firstHead });
});

test('a change of any field of a row breaks the chain at that row', async () => {
  const entries = chain(5);
  const changes: readonly Partial<AuditEntry>[] = [
    { actor: 'cli:other' },
    { via: 'api' },
    { atMs: 99 },
    { action: 'keys.create' },
    { subject: 'user:9' },
    { before: '{}' },
    { after: '{"a":1}' },
    { note: '' },
    { address: '10.0.0.1' },
    { requestId: 'req_1' },
  ];
  for (const change of changes) {
    const changed = entries.map((entry) => (entry.sequence === 3 ? { ...entry, ...change } : entry));
    assert.equal((await verifyAudit(storeOf(changed))).brokenAt, 3, Object.keys(change).join());
  }
});

test('a removed row, swapped rows and a shortened log are found', async () => {
  const entries = chain(5);
  const { sequence, hash } = entries[4] ?? assert.fail();
  assert.equal((await verifyAudit(storeOf(entries.toSpliced(1, 1)))).brokenAt, 2);
  const [first, second, ...others] = entries as [AuditEntry, AuditEntry, ...AuditEntry[]];
  assert.equal((await verifyAudit(storeOf([second, first, ...others]))).brokenAt, 1);
  assert.equal((await verifyAudit(storeOf(entries.slice(0, 3), { sequence, hash }))).brokenAt, 4);
});

test('rows that were cut together with the head, and a chain that was recomputed, are found by an earlier head', async () => {
  const entries = chain(5);
  const known = entries[3] ?? assert.fail();
  assert.equal((await verifyAudit(storeOf(entries), known)).brokenAt, undefined, 'the log has grown');
  assert.equal((await verifyAudit(storeOf(entries.slice(0, 3)))).brokenAt, undefined, 'nothing else shows it');
  assert.equal((await verifyAudit(storeOf(entries.slice(0, 3)), known)).brokenAt, 4);
  assert.equal((await verifyAudit(storeOf([]), known)).brokenAt, 1);
  const anew: AuditEntry[] = [];
  for (const { sequence, ...row } of entries) {
    const change = sequence === 2 ? { ...row, subject: 'user:other' } : row;
    anew.push(chainEntry(anew.at(-1) ?? firstHead, changeAt(sequence - 1), change));
  }
  assert.equal((await verifyAudit(storeOf(anew))).brokenAt, undefined);
  assert.equal((await verifyAudit(storeOf(anew), known)).brokenAt, 4);
});
