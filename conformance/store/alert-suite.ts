import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { Alert } from '../../src/alerts/alert.ts';
import type { NewNotice } from '../../src/alerts/alert-store.ts';
import { createEntry } from './call-entries.ts';
import { type StoreUnderTest, useEngine } from './store-under-test.ts';

const alertOf = (subject: string, more: Partial<Alert> = {}): Alert => ({
  rule: 'budget',
  subject,
  period: '2026-11',
  state: 'open',
  version: 1,
  episode: 1,
  level: 2,
  threshold: 80,
  basis: '1000',
  severity: 'warning',
  summary: 'User ann has used 80 %.',
  action: 'Raise it.',
  sinceMs: 5,
  members: { 'gpt-5': { badAtMs: 4, detail: 'down' } },
  channels: ['ops'],
  ...more,
});

const noticeOf = (id: string, more: Partial<NewNotice> = {}): NewNotice => ({
  id,
  channel: 'ops',
  event: 'firing',
  rule: 'budget',
  subject: 'user:ann',
  content: '{}',
  createdAtMs: 10,
  ...more,
});

/** The contract of every store for alerts. */
export function alertSuite(open: () => Promise<StoreUnderTest>): void {
  const engine = useEngine(open);

  test('an alert is stored as it was written, with its messages, and only after the version before it', async () => {
    const store = engine().store();
    const first = alertOf('user:whole');
    assert.equal(await store.changeAlert(first, [noticeOf('whole-1')]), true);
    assert.deepEqual(await store.findAlert(first), first);
    assert.equal(await store.changeAlert(first, [noticeOf('whole-2')]), false);
    const { threshold: _threshold, ...plain } = first;
    const second: Alert = { ...plain, version: 2, state: 'resolved', resolvedAtMs: 9, members: {} };
    assert.equal(await store.changeAlert({ ...second, version: 3 }, [noticeOf('whole-3')]), false);
    assert.equal(await store.changeAlert(second, [noticeOf('whole-4', { event: 'resolved' })]), true);
    assert.equal(await store.changeAlert(second, [noticeOf('whole-5')]), false);
    assert.deepEqual(await store.findAlert(first), second);
    assert.equal(await store.findAlert({ ...first, period: '2026-12' }), undefined);
    const ids = (await store.listNotices({ limit: 100, undelivered: false })).map(({ id }) => id).filter((id) => id.startsWith('whole'));
    assert.deepEqual(ids.toSorted(), ['whole-1', 'whole-4']);
  });

  test('of many gateways that open the same alert, one succeeds', async () => {
    const another = await engine().openAnother();
    const stores = [engine().store(), another, engine().store(), another];
    const outcomes = await Promise.all(stores.map((store, index) => store.changeAlert(alertOf('user:race'), [noticeOf(`race-${index}`)])));
    assert.equal(outcomes.filter(Boolean).length, 1);
    const notices = (await another.listNotices({ limit: 100, undelivered: false })).filter(({ id }) => id.startsWith('race'));
    assert.equal(notices.length, 1);
  });

  test('open alerts come with the oldest first, ended ones with the newest first, and hostile names are kept', async () => {
    const store = engine().store();
    for (const [subject, sinceMs] of [
      ['user:b', 102],
      ['user:a', 101],
      ['model:\0\ud800', 103],
    ] as const)
      await store.changeAlert(alertOf(subject, { sinceMs, period: 'order' }), []);
    const open = (await store.listAlerts({ state: 'open', limit: 100 })).filter(({ period }) => period === 'order');
    assert.deepEqual(
      open.map(({ subject }) => subject),
      ['user:a', 'user:b', 'model:\ufffd\ufffd'],
    );
    assert.ok(await store.findAlert(alertOf('model:\0\ud800', { period: 'order' })));
    for (const [index, alert] of open.entries())
      await store.changeAlert({ ...alert, version: 2, state: 'resolved', resolvedAtMs: 200 + index }, []);
    const ended = (await store.listAlerts({ state: 'resolved', limit: 100 })).filter(({ period }) => period === 'order');
    assert.deepEqual(
      ended.map(({ resolvedAtMs }) => resolvedAtMs),
      [202, 201, 200],
    );
  });

  test('a message is leased by one sender until the lease ends, and its outcome is recorded once', async () => {
    const store = engine().store();
    await store.insertNotices([noticeOf('lease-1', { createdAtMs: 1000 })]);
    await store.insertNotices([noticeOf('lease-1', { content: '{"changed":1}' })]);
    const claim = (owner: string, nowMs: number) => store.claimNotices({ owner, nowMs, leaseUntilMs: nowMs + 100, limit: 50 });
    const mine = async (owner: string, nowMs: number) => (await claim(owner, nowMs)).filter(({ id }) => id === 'lease-1');
    assert.deepEqual(await mine('a', 999), []);
    const [claimed] = await mine('a', 1000);
    assert.deepEqual([claimed?.content, claimed?.attempts], ['{}', 0]);
    assert.deepEqual(await mine('b', 1050), []);
    assert.equal((await mine('b', 1100)).length, 1);
    const outcome = { id: 'lease-1', attempts: 1, nextAttemptAtMs: 2000 } as const;
    assert.equal(await store.recordNotice({ ...outcome, owner: 'a', status: 'delivered', overAtMs: 1101 }), false);
    assert.equal(await store.recordNotice({ ...outcome, owner: 'b', status: 'waiting', lastProblem: 'refused' }), true);
    assert.deepEqual(await mine('a', 1999), []);
    assert.equal((await mine('a', 2000)).length, 1);
    assert.equal(await store.recordNotice({ ...outcome, attempts: 2, owner: 'a', status: 'delivered', overAtMs: 2001 }), true);
    const [stored] = (await store.listNotices({ limit: 100, undelivered: false })).filter(({ id }) => id === 'lease-1');
    assert.deepEqual([stored?.status, stored?.attempts, stored?.lastProblem], ['delivered', 2, 'refused']);
    const undelivered = await store.listNotices({ limit: 100, undelivered: true });
    assert.ok(undelivered.every(({ id }) => id !== 'lease-1'));
  });

  test('a report replaces the one before, and an empty one is not listed', async () => {
    const store = engine().store();
    const observation = { rule: 'disk', subject: 'node:a', member: 'host', state: 'bad', detail: '1 % free' } as const;
    const own = async (sinceMs: number) => (await store.listNodeReports(sinceMs)).filter(({ nodeId }) => nodeId === 'report');
    await store.putNodeReport({ nodeId: 'report', atMs: 10, observations: [observation] });
    await store.putNodeReport({ nodeId: 'report', atMs: 20, observations: [observation] });
    assert.deepEqual(await own(20), [{ nodeId: 'report', atMs: 20, observations: [observation] }]);
    assert.deepEqual(await own(21), []);
    await store.putNodeReport({ nodeId: 'report', atMs: 30, observations: [] });
    assert.deepEqual(await own(0), []);
  });

  test('the spend of users is summed by hour, exactly', async () => {
    const store = engine().store();
    const hour = 500_000;
    const spend = (id: string, userName: string, atHour: number, amountNanoUsd: bigint) =>
      createEntry(id, {
        userName,
        acceptedAtMs: atHour * 3_600_000 + 60_000,
        durationMs: 1,
        charge: { amountNanoUsd, lines: [], priceId: 'p' },
      });
    await store.appendEntries([
      spend('h1', 'hourly', hour, 9_007_199_254_740_993n),
      spend('h2', 'hourly', hour, 2n),
      spend('h3', 'hourly', hour + 1, 5n),
      spend('h4', 'hourly', hour - 1, 7n),
      spend('h5', 'other', hour, 11n),
    ]);
    const rows = (await store.listHourlySpend(hour)).toSorted((a, b) => a.userName.localeCompare(b.userName) || a.hour - b.hour);
    assert.deepEqual(rows, [
      { userName: 'hourly', hour, nanoUsd: 9_007_199_254_740_995n },
      { userName: 'hourly', hour: hour + 1, nanoUsd: 5n },
      { userName: 'other', hour, nanoUsd: 11n },
    ]);
  });

  test('the sweep deletes ended alerts and messages, and never open ones', async () => {
    const store = engine().store();
    await store.changeAlert(alertOf('user:swept', { period: 'sweep' }), [noticeOf('swept-1')]);
    await store.changeAlert(alertOf('user:kept', { period: 'sweep' }), [noticeOf('kept-1')]);
    await store.changeAlert(alertOf('user:swept', { period: 'sweep', version: 2, state: 'resolved', resolvedAtMs: 50 }), []);
    for (;;) {
      const claimed = await store.claimNotices({ owner: 'sweep', nowMs: 1e15, leaseUntilMs: 1e15 + 1, limit: 50 });
      if (claimed.length === 0) break;
      for (const { id } of claimed)
        if (id === 'swept-1')
          await store.recordNotice({ id, owner: 'sweep', status: 'given-up', attempts: 9, nextAttemptAtMs: 50, overAtMs: 50 });
    }
    while ((await store.sweepAlerts({ beforeMs: 51, limit: 2 })) > 0);
    assert.equal(await store.findAlert(alertOf('user:swept', { period: 'sweep' })), undefined);
    assert.ok(await store.findAlert(alertOf('user:kept', { period: 'sweep' })));
    const ids = (await store.listNotices({ limit: 100, undelivered: false })).map(({ id }) => id);
    assert.ok(!ids.includes('swept-1') && ids.includes('kept-1'));
  });
}
