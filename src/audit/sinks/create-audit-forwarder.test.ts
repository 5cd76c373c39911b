import assert from 'node:assert/strict';
import { test } from 'node:test';

import { type AuditEntry, type AuditHead, chainEntry, firstHead } from '../audit-entry.ts';
import { changeAt } from '../testing/test-change.ts';
import { createAuditForwarder } from './create-audit-forwarder.ts';

function setUp(rows: number) {
  let nowMs = 1000;
  const entries: AuditEntry[] = [];
  let head: AuditHead = firstHead;
  const append = (count: number): void => {
    for (let index = 0; index < count; index += 1) {
      const entry = chainEntry(head, changeAt(index), { action: 'users.create', subject: `user:${index}` });
      entries.push(entry);
      head = entry;
    }
  };
  append(rows);
  const positions = new Map<string, { sequence: number; owner?: string; untilMs: number }>();
  const store = {
    readAudit: async (after: number, limit: number) => entries.filter(({ sequence }) => sequence > after).slice(0, limit),
    claimAuditSink: async ({
      name,
      owner,
      nowMs: atMs,
      leaseUntilMs,
    }: {
      name: string;
      owner: string;
      nowMs: number;
      leaseUntilMs: number;
    }) => {
      const { sequence, ...lease } = positions.get(name) ?? { sequence: 0, untilMs: 0 };
      if (sequence >= head.sequence || (lease.untilMs > atMs && lease.owner !== owner)) return undefined;
      positions.set(name, { sequence, owner, untilMs: leaseUntilMs });
      return sequence;
    },
    advanceAuditSink: async ({ name, owner, sequence }: { name: string; owner: string; sequence: number }) => {
      if (positions.get(name)?.owner !== owner) return false;
      positions.set(name, { sequence, untilMs: 0 });
      return true;
    },
  };
  const logged: string[] = [];
  const log = (_fields: unknown, message?: string): void => void logged.push(message ?? '');
  const received: Record<string, number[]> = { good: [], bad: [] };
  let isBad = false;
  const sink = (name: string) => ({
    name,
    send: async (page: readonly AuditEntry[]) => {
      received[name]?.push(...page.map(({ sequence }) => sequence));
      if (name === 'bad' && isBad) throw new Error('refused');
    },
  });
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
  const sinks = () => [sink('good'), sink('bad')];
  const forwarder = () => createAuditForwarder({ store, sinks, clock, logger: { info: log, warn: log }, everyMs: 1000 });
  return {
    forwarder,
    received,
    logged,
    append,
    fail: (fails: boolean) => void (isBad = fails),
    advance: (byMs: number) => void (nowMs += byMs),
  };
}

const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index + 1);

test('all rows reach each sink in order, once, over several pages and by several processes', async () => {
  const { forwarder, received, append } = setUp(450);
  await forwarder().round();
  assert.deepEqual(received, { good: upTo(450), bad: upTo(450) });
  append(3);
  const [one, other] = [forwarder(), forwarder()];
  await Promise.all([one.round(), other.round()]);
  assert.deepEqual(received, { good: upTo(453), bad: upTo(453) });
});

test('a sink that fails gets the same rows again after growing pauses, and delays no other', async () => {
  const { forwarder, received, logged, fail, advance, append } = setUp(2);
  const sender = forwarder();
  fail(true);
  await sender.round();
  await sender.round();
  assert.deepEqual(received, { good: [1, 2], bad: [1, 2] });
  advance(1000);
  append(1);
  await sender.round();
  assert.deepEqual(received, { good: [1, 2, 3], bad: [1, 2, 1, 2, 3] });
  advance(1000);
  await sender.round();
  assert.equal(received['bad']?.length, 5);
  fail(false);
  advance(1000);
  await sender.round();
  assert.deepEqual(received['bad'], [1, 2, 1, 2, 3, 1, 2, 3]);
  assert.deepEqual(logged, ['sending the audit log to a sink failed', 'audit sink works again']);
});
