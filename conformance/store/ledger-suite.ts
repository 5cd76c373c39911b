import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { verifyStart } from '../../src/billing/credits/credit-books.ts';
import type { CallEntry } from '../../src/billing/ledger/call-entry.ts';
import { settleDispute } from '../../src/billing/ledger/settle-dispute.ts';
import { recomputeAmount } from '../../src/billing/rating/recompute-amount.ts';
import type { Usage } from '../../src/inference/usage.ts';
import { usualOrLong } from '../support/scale.ts';
import { callEntries, createEntry } from './call-entries.ts';
import { useEngine } from './store-under-test.ts';
import type { StoreUnderTest } from './store-under-test.ts';
import { startMs, startSeconds } from './suite-start.ts';

/** The contract of every store for booked calls. */
export function ledgerSuite(open: () => Promise<StoreUnderTest>): void {
  const engine = useEngine(open);

  test('entry-round-trip: an entry is read exactly as it was appended, absent members absent', async () => {
    let run = 0;
    await fc.assert(
      fc.asyncProperty(callEntries({ prefix: 'trip', startMs, spanMs: 86_400_000, max: 20 }), async (generated) => {
        const entries = generated.map((entry) => ({ ...entry, callId: `${entry.callId}-${(run += 1)}` }));
        assert.equal(await engine().store().appendEntries(entries), entries.length);
        for (const entry of entries) assert.deepEqual(await engine().store().findEntry(entry.callId), entry);
      }),
      { numRuns: usualOrLong(8, 20) },
    );
  });

  test('calls of one kind, which share their text, are read exactly as they were appended, by every query', async () => {
    const userName = 'shared';
    // No other test has calls of these days.
    const firstMs = startMs - 30 * 86_400_000;
    const entries = Array.from({ length: 60 }, (_, index) =>
      createEntry(`shared-${String(index).padStart(2, '0')}`, {
        userName,
        acceptedAtMs: firstMs + index,
        requestedModel: `m-${index % 2}`,
        replyId: `reply-${index}`,
        upstreamRequestId: index % 7 === 0 ? `a "quoted" ${index}` : `ü-${index}`,
        usage: { inputTokens: index, outputTokens: 1 },
        rawUsage: { prompt_tokens: index, completion_tokens: 1 },
        durationMs: index / 3,
        ...(index % 10 === 9 ? { disputed: { figures: [], reported: {} } } : {}),
      }),
    );
    const store = engine().store();
    // In batches of several sizes, one of them repeated.
    for (const [from, to] of [
      [0, 1],
      [1, 2],
      [2, 30],
      [20, 45],
      [45, 60],
    ] as const)
      await store.appendEntries(entries.slice(from, to));
    assert.deepEqual(await store.listEntries({ userName, limit: 100 }), entries.toReversed());
    assert.deepEqual(await store.listEntriesBetween({ startMs: firstMs, endMs: firstMs + 60, limit: 60 }), entries);
    for (const entry of entries) {
      assert.deepEqual(await store.findEntry(entry.callId), entry);
      assert.deepEqual(await store.listCallRows(entry.callId), [entry]);
      assert.equal((await store.findReplyOwner(entry.replyId ?? ''))?.callId, entry.callId);
    }
    const disputed = await store.listDisputed({ users: [userName], limit: 10, settled: true });
    assert.deepEqual(
      disputed.map(({ entry }) => entry),
      entries.filter(({ disputed: figures }) => figures !== undefined).toReversed(),
    );
    const billed = await store.listBilledCalls({ startMs: firstMs, endMs: firstMs + 60, limit: 100, userName });
    assert.deepEqual(
      billed.map(({ callId, priceVersion }) => [callId, priceVersion]),
      entries.map(({ callId, priceVersion }) => [callId, priceVersion]),
    );
  });

  test('the rows of a call are found by its id, in the order of their creation, without rows of other calls', async () => {
    const store = engine().store();
    const ids = ['parts', 'parts.1.tools', 'parts.2', 'parts.2.tools', 'parts.10', 'parts.10.tools', 'parts.100'];
    const others = ['parts.x', 'parts.101', 'part', 'partsx2', 'parts_2', 'other.2'];
    const rows = [...ids.toReversed(), ...others].map((callId) => createEntry(callId, { acceptedAtMs: startMs }));
    await store.appendEntries(rows);
    assert.deepEqual(
      (await store.listCallRows('parts')).map(({ callId }) => callId),
      ids,
    );
    for (const none of ['', 'nothing', '%', "parts' or 1=1", 'parts\0']) assert.deepEqual(await store.listCallRows(none), [], none);
  });

  test('B15: calls that were charged 0 because they have no price are found by their models, and no others', async () => {
    const store = engine().store();
    const free = { amountNanoUsd: 0n, lines: [] };
    const usage = { inputTokens: 3 };
    const own = { userName: 'unpriced', acceptedAtMs: startMs, usage, charge: free };
    await store.appendEntries([
      createEntry('unpriced-1', { ...own, requestedModel: 'local' }),
      createEntry('unpriced-2', { ...own, requestedModel: 'local', acceptedAtMs: startMs + 7 }),
      createEntry('unpriced-3', { ...own, requestedModel: 'other', disputed: { figures: [], reported: {} } }),
      createEntry('unpriced-4', { ...own, requestedModel: 'other', userName: 'somebody-else' }),
      createEntry('unpriced-5', { ...own, requestedModel: 'given-away', charge: { ...free, priceId: 'override/given-away' } }),
      createEntry('unpriced-6', { ...own, requestedModel: 'broken', end: 'failed', usage: {} }),
      createEntry('unpriced-7', { ...own, requestedModel: 'silent', usage: { outputTokens: 0 } }),
      createEntry('unpriced-8', { ...own, requestedModel: 'later', acceptedAtMs: startMs + 1000 }),
      // An unusual entry without a summary.
      createEntry('unpriced-9', { ...own, requestedModel: 'local', usage: { inputTokens: 2 ** 53 } }),
    ]);
    const span = { startMs, endMs: startMs + 1000, limit: 10, users: ['unpriced'] };
    assert.deepEqual(await store.listUnpriced(span), [
      { requestedModel: 'local', calls: 3, lastMs: startMs + 7 },
      { requestedModel: 'other', calls: 1, lastMs: startMs },
    ]);
    assert.deepEqual(await store.listUnpriced({ ...span, limit: 1, startMs: startMs + 1 }), [
      { requestedModel: 'local', calls: 1, lastMs: startMs + 7 },
    ]);
    assert.deepEqual(
      (await store.listDisputed({ limit: 10, users: ['unpriced'], settled: false })).map(({ entry }) => entry.callId),
      ['unpriced-3'],
    );
  });

  test('B9: a disputed row is settled once, by the first of two operators, and counts in statistics and balance with the decided amount', async () => {
    const store = engine().store();
    const reported = { inputTokens: 10, outputTokens: 1_000_000_000 };
    const figures = [{ count: 'outputTokens', reason: 'beyond-bound', reported: 1_000_000_000, most: 50 }] as const;
    const priced = (usage: Usage): CallEntry['charge'] => {
      const lines = [{ meter: 'output', quantity: usage.outputTokens ?? 0, unitPrice: '10', per: 1_000_000 }];
      return { amountNanoUsd: recomputeAmount(lines), lines };
    };
    const usage = { inputTokens: 10, outputTokens: 50 };
    const own = { userName: 'disputes', acceptedAtMs: startMs, usage, charge: priced(usage), estimated: true } as const;
    const disputed = createEntry('disputed-1', { ...own, disputed: { figures, reported } });
    await store.appendEntries([
      disputed,
      createEntry('disputed-2', { ...own, disputed: { figures, reported } }),
      createEntry('plain', own),
    ]);
    const open = { limit: 10, users: ['disputes', 'nobody'], settled: false };
    assert.deepEqual(await store.listDisputed({ ...open, users: [] }), []);
    assert.deepEqual(
      (await store.listDisputed(open)).map(({ entry }) => entry.callId),
      ['disputed-2', 'disputed-1'],
    );
    assert.deepEqual((await store.listDisputed(open))[1], { entry: disputed });
    const decide = (decision: 'accepted' | 'corrected', outputTokens: number, by: string): CallEntry =>
      settleDispute(disputed, { decision, after: { ...usage, outputTokens }, by, atMs: startMs + 1 }, priced);
    const rows = [decide('corrected', 20, 'one'), decide('accepted', 1_000_000_000, 'other')];
    const another = await engine().openAnother();
    const change = { actor: 'person:ann', via: 'api', atMs: startMs + 1, note: 'the vendor said so' } as const;
    const added = await Promise.all(rows.map((row, index) => (index === 0 ? store : another).bookSettlement(row, change)));
    assert.equal(added.filter((isFirst) => isFirst).length, 1);
    assert.equal(await store.appendEntries(rows), 0);
    const kept = rows[added.indexOf(true)];
    assert.ok(kept);
    const audit = await store.listAudit({ subject: 'call:disputed-1', limit: 9 });
    assert.deepEqual(
      audit.map(({ action, actor, note, before }) => [action, actor, note, before]),
      [['disputes.settle', 'person:ann', 'the vendor said so', JSON.stringify(usage)]],
    );
    assert.match(audit[0]?.after ?? '', new RegExp(`"difference_nano_usd":"${kept.charge.amountNanoUsd}"`));
    assert.deepEqual(await store.findEntry(kept.callId), kept);
    assert.deepEqual(await store.listCallRows('disputed-1'), [disputed, kept]);
    assert.deepEqual(
      (await store.listDisputed(open)).map(({ entry }) => entry.callId),
      ['disputed-2'],
    );
    assert.deepEqual((await store.listDisputed({ ...open, settled: true }))[1], { entry: disputed, settlement: kept });
    const outputTokens = 100 + (kept.settlement?.after.outputTokens ?? 0);
    const amountNanoUsd = BigInt(outputTokens) * 10_000n;
    const buckets = [{ startSeconds, endSeconds: startSeconds + 60 }];
    const [sum] = await store.queryStatistics({ buckets, startSeconds, endSeconds: startSeconds + 60, userName: 'disputes', rowsMax: 10 });
    assert.deepEqual(
      { calls: sum?.callCount, completionTokens: sum?.completionTokens, amountNanoUsd: sum?.amountNanoUsd },
      { calls: 3, completionTokens: outputTokens, amountNanoUsd },
    );
    const [balance] = await store.readBalances({ owner: { level: 'user', userName: 'disputes' }, limit: 1 });
    assert.equal(balance?.balanceNanoUsd, -amountNanoUsd);
    for (let cursor = verifyStart; ;) {
      const { problems, next } = await store.verifyBooks({ cursor, limit: 1000 });
      assert.deepEqual(
        problems.filter(({ accountId }) => accountId === 'user:disputes'),
        [],
      );
      if (next === undefined) break;
      cursor = next;
    }
  });

  test('a stored reply is found with its owner and the upstream that stores it, and no other is', async () => {
    const store = engine().store();
    const kept = createEntry('kept-reply', { userName: 'owner', upstream: 'eu-account', replyId: 'resp_kept', acceptedAtMs: startMs });
    await store.appendEntries([kept, createEntry('unkept-reply', { userName: 'owner', acceptedAtMs: startMs })]);
    assert.deepEqual(await store.findReplyOwner('resp_kept'), { userName: 'owner', callId: 'kept-reply', upstream: 'eu-account' });
    for (const other of ['resp_other', '', 'kept-reply', "resp_kept' or 1=1"]) assert.equal(await store.findReplyOwner(other), undefined);
  });

  test('amounts and sums beyond 2^53 are exact', async () => {
    const store = engine().store();
    const amountNanoUsd = 2n ** 53n + 1n;
    const entries = [1, 2, 3].map((number) =>
      createEntry(`large-${number}`, { userName: 'large', acceptedAtMs: startMs, charge: { amountNanoUsd, lines: [] } }),
    );
    await store.appendEntries(entries);
    assert.equal((await store.findEntry('large-1'))?.charge.amountNanoUsd, amountNanoUsd);
    const buckets = [{ startSeconds, endSeconds: startSeconds + 60 }];
    for (const endSeconds of [startSeconds + 60, startSeconds + 59]) {
      const rows = await store.queryStatistics({ buckets, startSeconds, endSeconds, userName: 'large', rowsMax: 10 });
      assert.deepEqual(
        rows.map((row) => row.amountNanoUsd),
        [amountNanoUsd * 3n],
      );
    }
  });

  test('an entry that cannot be booked is named, and the rest of its batch is booked', async () => {
    const store = engine().store();
    const good = createEntry('good');
    const broken: readonly Partial<CallEntry>[] = [
      { charge: { amountNanoUsd: 2n ** 63n, lines: [] } },
      { usage: { outputTokens: 1.5 } },
      { usage: { inputTokens: Number.POSITIVE_INFINITY } },
      { durationMs: Number.NaN },
      { acceptedAtMs: 1e300 },
    ];
    for (const changes of broken) {
      await assert.rejects(store.appendEntries([good, createEntry('bad', changes)]), { kind: 'entry-out-of-range', callIds: ['bad'] });
      assert.equal(await store.findEntry('good'), undefined);
    }
    assert.equal(await store.appendEntries([good]), 1);
  });

  test('a sum that exceeds 64 bits is refused and names its entries', async () => {
    const store = engine().store();
    const huge = { userName: 'overflow', charge: { amountNanoUsd: 2n ** 62n, lines: [] } };
    await store.appendEntries([createEntry('overflow-1', huge)]);
    await assert.rejects(store.appendEntries([createEntry('overflow-2', huge)]), { kind: 'entry-out-of-range', callIds: ['overflow-2'] });
    assert.equal(await store.findEntry('overflow-2'), undefined);
  });

  test('text that no encoding can express is stored in the entry and replaced in the statistics, not refused', async () => {
    const store = engine().store();
    const entry = createEntry('odd-text', { userName: 'odd', requestedModel: 'a\0b\ud800c' });
    await store.appendEntries([entry]);
    assert.deepEqual(await store.findEntry('odd-text'), entry);
    const startSeconds = Math.floor(entry.acceptedAtMs / 60_000) * 60;
    const bounds = { startSeconds, endSeconds: startSeconds + 60 };
    const [row] = await store.queryStatistics({ ...bounds, buckets: [bounds], userName: 'odd', rowsMax: 10 });
    assert.equal(row?.modelName, 'a\uFFFDb\uFFFDc');
  });

  test('append-only: a booked call can be neither changed nor removed nor replaced', async () => {
    const entry = createEntry('kept', { userName: 'kept' });
    await engine().store().appendEntries([entry]);
    await assert.rejects(engine().tamper("update calls set amount_nano_usd = 0 where call_id = 'kept'"), /append-only/);
    await assert.rejects(engine().tamper("delete from calls where call_id = 'kept'"), /append-only/);
    const changed = createEntry('kept', { userName: 'kept', charge: { amountNanoUsd: 5n, lines: [] } });
    assert.equal(await engine().store().appendEntries([changed]), 0);
    assert.deepEqual(await engine().store().findEntry('kept'), entry);
  });

  test('appended entries exist after the database was closed and opened again', async () => {
    const entry = createEntry('durable');
    await engine().store().appendEntries([entry]);
    await engine().reopen();
    assert.deepEqual(await engine().store().findEntry('durable'), entry);
    assert.equal(await engine().store().findEntry('never'), undefined);
  });

  test('listing is newest first, by user, in pages without gaps or repeats, also among equal times', async () => {
    const store = engine().store();
    const entries = Array.from({ length: 25 }, (_, index) =>
      createEntry(`page-${String(index).padStart(2, '0')}`, {
        userName: `pager ${index % 2}`,
        acceptedAtMs: startMs + 1e9 + Math.floor(index / 5),
      }),
    );
    await store.appendEntries(entries);
    const newestFirst = entries.toReversed();
    const pages: CallEntry[] = [];
    for (;;) {
      const before = pages.at(-1)?.callId;
      const page = await store.listEntries({ limit: 7, ...(before === undefined ? {} : { before }) });
      pages.push(...page.filter((entry) => entry.callId.startsWith('page-')));
      if (page.length < 7 || pages.length >= 25) break;
    }
    assert.deepEqual(pages, newestFirst);
    const ofUser = newestFirst.filter((entry) => entry.userName === 'pager 1');
    assert.deepEqual(await store.listEntries({ limit: 100, userName: 'pager 1' }), ofUser);
    assert.deepEqual(await store.listEntries({ limit: 100, userName: 'pager 1', before: 'page-13' }), ofUser.slice(6));
    assert.deepEqual(await store.listEntries({ limit: 10, before: 'no such call' }), []);
    await assert.rejects(store.listEntries({ limit: 0 }), { kind: 'constraint' });
  });

  test('the rows of a span are read oldest first, in pages without gaps or repeats, also among equal times; its end is exclusive', async () => {
    const store = engine().store();
    const beginMs = startMs + 3e9;
    const entries = Array.from({ length: 23 }, (_, index) =>
      createEntry(`span-${String(index).padStart(2, '0')}`, { acceptedAtMs: beginMs + Math.floor(index / 5) }),
    );
    await store.appendEntries(entries.toReversed());
    const span = { startMs: beginMs, endMs: beginMs + 4 };
    const pages: CallEntry[] = [];
    for (;;) {
      const after = pages.at(-1);
      const page = await store.listEntriesBetween({ ...span, limit: 7, ...(after === undefined ? {} : { after }) });
      pages.push(...page);
      if (page.length < 7) break;
    }
    assert.deepEqual(pages, entries.slice(0, 20));
    assert.deepEqual(await store.listEntriesBetween({ startMs: beginMs + 4, endMs: beginMs + 5, limit: 10 }), entries.slice(20));
    assert.deepEqual(await store.listEntriesBetween({ startMs: beginMs + 5, endMs: beginMs + 5, limit: 10 }), []);
    await assert.rejects(store.listEntriesBetween({ ...span, limit: 10_001 }), { kind: 'constraint' });
  });
}
