import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { StoredApiKey } from '../../src/accounts/api-key.ts';
import type { CallEntry } from '../../src/billing/ledger/call-entry.ts';
import type { StatisticsQuery } from '../../src/billing/statistics/statistics-store.ts';
import { callEntries, createEntry } from './call-entries.ts';
import { proofSuite } from './proof-suite.ts';
import { useEngine } from './store-under-test.ts';
import type { StoreUnderTest } from './store-under-test.ts';
import { sumStatistics } from './sum-statistics.ts';

/** Names that break out of quotes, formulas, paths and encodings wherever a value is pasted into text. */
const hostileNames = [
  `'; drop table calls; --`,
  `" or 1=1 --`,
  '%_\\',
  '=HYPERLINK("http://x")',
  'zoë 模型 🐟 \u202eabc',
  `$1 ? :name @name`,
  'line\nbreak\ttab',
  '',
];

const startMs = Date.UTC(2026, 0, 5);
const startSeconds = startMs / 1000;

/** The contract of a store. Every engine runs it; what it promises is worded in the interfaces of src/accounts and src/billing. */
export function runStoreSuite(name: string, open: () => Promise<StoreUnderTest>): void {
  describe(`store: ${name}`, () => {
    describe('accounts', () => accountsSuite(open));
    describe('ledger', () => ledgerSuite(open));
    describe('statistics', () => statisticsSuite(open));
    describe('reasoning proofs', () => proofSuite(open));
  });
}

function accountsSuite(open: () => Promise<StoreUnderTest>): void {
  const engine = useEngine(open);

  async function createKey(label: string, changes: Partial<StoredApiKey> = {}): Promise<StoredApiKey> {
    const user = await engine()
      .store()
      .ensureUser({ id: `user-${label}`, name: `user ${label}`, createdAtMs: 1 });
    return {
      id: `key-${label}`,
      userId: user.id,
      userName: user.name,
      name: 'ci',
      hint: 'abcd',
      createdAtMs: 2,
      strictTranslation: false,
      hash: `hash-${label}`,
      ...changes,
    };
  }

  test('the pepper is random, made once and the same for every handle', async () => {
    const pepper = await engine().store().pepper();
    assert.match(pepper, /^[0-9a-f]{64}$/);
    const another = await engine().openAnother();
    assert.equal(await another.pepper(), pepper);
    await engine().reopen();
    assert.equal(await engine().store().pepper(), pepper);
  });

  test('a user of a known name is found, not made again', async () => {
    const store = engine().store();
    const first = await store.ensureUser({ id: 'user-a', name: 'Alice', createdAtMs: 1 });
    assert.deepEqual(await store.ensureUser({ id: 'user-b', name: 'Alice', createdAtMs: 2 }), first);
    assert.equal((await store.ensureUser({ id: 'user-c', name: 'alice', createdAtMs: 3 })).id, 'user-c');
  });

  test('twenty handles that ensure one user at once agree on it', async () => {
    const stores = [engine().store(), await engine().openAnother()];
    const users = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (stores[index % 2] ?? assert.fail()).ensureUser({ id: `racer-${index}`, name: 'racer', createdAtMs: index }),
      ),
    );
    assert.equal(new Set(users.map((user) => user.id)).size, 1);
  });

  test('a key is read back whole, disabled and enabled again', async () => {
    const store = engine().store();
    const key = await createKey('life');
    const before = await store.keysVersion();
    assert.equal(await store.insertApiKey(key), true);
    assert.deepEqual(await store.findApiKeyByHash(key.hash), key);
    assert.equal(await store.setApiKeyDisabled(key.id, 77), true);
    assert.deepEqual(await store.findApiKeyByHash(key.hash), { ...key, disabledAtMs: 77 });
    assert.equal(await store.setApiKeyDisabled(key.id, undefined), true);
    assert.deepEqual(await store.findApiKeyByHash(key.hash), key);
    assert.equal(await store.setApiKeyStrictTranslation(key.id, true), true);
    assert.deepEqual(await store.findApiKeyByHash(key.hash), { ...key, strictTranslation: true });
    assert.equal(await store.deleteApiKey(key.id, 99), true);
    assert.equal(await store.findApiKeyByHash(key.hash), undefined);
    assert.ok((await store.keysVersion()) >= before + 5);
  });

  test('limits of a key and of its owner are read back, changed one by one and taken away', async () => {
    const store = engine().store();
    const key = await createKey('limited', { limits: { requestsPerMinute: 60, models: ['gpt-5*'] } });
    await store.insertApiKey(key);
    const version = await store.keysVersion();
    assert.deepEqual(await store.findApiKeyByHash(key.hash), key);
    assert.equal(await store.changeApiKeyLimits(key.id, { requestsPerMinute: null, addresses: ['10.0.0.0/8'], expiresAtMs: 9 }), true);
    const limits = { models: ['gpt-5*'], addresses: ['10.0.0.0/8'], expiresAtMs: 9 };
    assert.deepEqual(await store.findApiKeyByHash(key.hash), { ...key, limits });
    assert.equal(await store.changeUserLimits(key.userName, { tokensPerMinute: 5, concurrency: 1 }), true);
    const userLimits = { tokensPerMinute: 5, concurrency: 1 };
    assert.deepEqual(await store.findApiKeyByHash(key.hash), { ...key, limits, userLimits });
    assert.deepEqual((await store.listUsers()).find(({ id }) => id === key.userId)?.limits, userLimits);
    await store.changeApiKeyLimits(key.id, { models: null, addresses: null, expiresAtMs: null });
    await store.changeUserLimits(key.userName, { tokensPerMinute: null, concurrency: null });
    const { limits: _none, ...unlimited } = key;
    assert.deepEqual(await store.findApiKeyByHash(key.hash), unlimited);
    assert.equal(await store.keysVersion(), version + 4);
    assert.equal(await store.changeUserLimits('nobody', { concurrency: 1 }), false);
  });

  test('changes of limits at once by two handles all arrive', async () => {
    const store = engine().store();
    const other = await engine().openAnother();
    const key = await createKey('raced');
    await store.insertApiKey(key);
    await Promise.all([store.changeApiKeyLimits(key.id, { requestsPerMinute: 1 }), other.changeApiKeyLimits(key.id, { concurrency: 2 })]);
    assert.deepEqual((await store.findApiKeyByHash(key.hash))?.limits, { requestsPerMinute: 1, concurrency: 2 });
  });

  test('the name and the hash of a living key are refused and nothing changes; those of a deleted key are free', async () => {
    const store = engine().store();
    const key = await createKey('unique');
    await store.insertApiKey(key);
    const version = await store.keysVersion();
    assert.equal(await store.insertApiKey({ ...key, id: 'other-id', hash: 'other-hash' }), false);
    assert.equal(await store.insertApiKey({ ...key, id: 'other-id', name: 'other' }), false);
    assert.equal(await store.keysVersion(), version);
    await store.deleteApiKey(key.id, 5);
    const reborn = { ...key, id: 'reborn' };
    assert.equal(await store.insertApiKey(reborn), true);
    assert.deepEqual(await store.findApiKeyByHash(key.hash), reborn);
  });

  test('changes of a key that is not there or deleted report false and leave the version', async () => {
    const store = engine().store();
    const key = await createKey('gone');
    await store.insertApiKey(key);
    await store.deleteApiKey(key.id, 5);
    const version = await store.keysVersion();
    for (const id of [key.id, 'never']) {
      assert.equal(await store.setApiKeyDisabled(id, 1), false);
      assert.equal(await store.setApiKeyDisabled(id, undefined), false);
      assert.equal(await store.setApiKeyStrictTranslation(id, true), false);
      assert.equal(await store.changeApiKeyLimits(id, { concurrency: 1 }), false);
      assert.equal(await store.deleteApiKey(id, 1), false);
    }
    assert.equal(await store.keysVersion(), version);
  });

  test('keys are listed oldest first, disabled ones included, deleted ones not', async () => {
    const store = engine().store();
    const keys = await Promise.all([
      createKey('list', { id: 'list-b', name: 'b', hash: 'list-b', createdAtMs: 1002, strictTranslation: true }),
      createKey('list', { id: 'list-a', name: 'a', hash: 'list-a', createdAtMs: 1001, disabledAtMs: 4 }),
      createKey('list', { id: 'list-c', name: 'c', hash: 'list-c', createdAtMs: 1003 }),
    ]);
    for (const key of keys) await store.insertApiKey(key);
    await store.deleteApiKey('list-c', 9);
    const listed = (await store.listApiKeys()).filter((key) => key.id.startsWith('list-'));
    assert.deepEqual(listed, [keys[1], keys[0]]);
  });

  test('another handle sees a change and its version at once', async () => {
    const another = await engine().openAnother();
    const before = await another.keysVersion();
    const key = await createKey('seen');
    await engine().store().insertApiKey(key);
    assert.ok((await another.keysVersion()) > before);
    assert.deepEqual(await another.findApiKeyByHash(key.hash), key);
  });

  test('billing tokens: unique by name and hash, with and without a user, deleted for good', async () => {
    const store = engine().store();
    const all = { id: 'token-all', name: 'finance', createdAtMs: 1 };
    const one = { id: 'token-one', name: 'alice only', userName: 'Alice', createdAtMs: 2 };
    assert.equal(await store.insertBillingToken({ ...all, hash: 'bt-1' }), true);
    assert.equal(await store.insertBillingToken({ ...one, hash: 'bt-2' }), true);
    assert.equal(await store.insertBillingToken({ ...all, id: 'x', hash: 'bt-3' }), false);
    assert.equal(await store.insertBillingToken({ ...all, id: 'x', name: 'x', hash: 'bt-1' }), false);
    assert.deepEqual(await store.findBillingTokenByHash('bt-2'), one);
    assert.deepEqual(await store.listBillingTokens(), [all, one]);
    assert.equal(await store.deleteBillingToken('token-all'), true);
    assert.equal(await store.deleteBillingToken('token-all'), false);
    assert.equal(await store.findBillingTokenByHash('bt-1'), undefined);
  });

  test('hostile names are data', async () => {
    const store = engine().store();
    for (const [index, hostile] of hostileNames.entries()) {
      const user = await store.ensureUser({ id: `hostile-${index}`, name: hostile, createdAtMs: 1 });
      assert.equal(user.name, hostile);
      const key = await createKey('x', { id: `hk-${index}`, userId: user.id, userName: hostile, name: hostile, hash: hostile });
      assert.equal(await store.insertApiKey(key), true);
      assert.deepEqual(await store.findApiKeyByHash(hostile), key);
    }
  });
}

function ledgerSuite(open: () => Promise<StoreUnderTest>): void {
  const engine = useEngine(open);

  test('entry-round-trip: an entry comes back exactly as it was appended, absent members absent', async () => {
    let run = 0;
    await fc.assert(
      fc.asyncProperty(callEntries({ prefix: 'trip', startMs, spanMs: 86_400_000, max: 20 }), async (generated) => {
        const entries = generated.map((entry) => ({ ...entry, callId: `${entry.callId}-${(run += 1)}` }));
        assert.equal(await engine().store().appendEntries(entries), entries.length);
        for (const entry of entries) assert.deepEqual(await engine().store().findEntry(entry.callId), entry);
      }),
      { numRuns: 20 },
    );
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

  test('an entry that cannot be booked is named, and the batch around it is not booked', async () => {
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

  test('a sum that leaves 64 bits is refused and names its entries', async () => {
    const store = engine().store();
    const huge = { userName: 'overflow', charge: { amountNanoUsd: 2n ** 62n, lines: [] } };
    await store.appendEntries([createEntry('overflow-1', huge)]);
    await assert.rejects(store.appendEntries([createEntry('overflow-2', huge)]), { kind: 'entry-out-of-range', callIds: ['overflow-2'] });
    assert.equal(await store.findEntry('overflow-2'), undefined);
  });

  test('text that no encoding holds is kept in the entry and replaced in the statistics, not refused', async () => {
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

  test('what was appended is there after the database was closed and opened again', async () => {
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
}

function statisticsSuite(open: () => Promise<StoreUnderTest>): void {
  const engine = useEngine(open);

  /** Whole-minute buckets of random widths that cover a span, a query that cuts into them, and filters. */
  const queries = (fromSeconds: number, spanSeconds: number): fc.Arbitrary<Omit<StatisticsQuery, 'rowsMax'>> =>
    fc
      .record({
        widths: fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 12 }),
        offset: fc.integer({ min: 0, max: Math.floor(spanSeconds / 2) }),
        length: fc.integer({ min: 1, max: spanSeconds }),
        cut: fc.boolean(),
        tokenName: fc.option(fc.constantFrom('ci', 'CI', `o'brien`), { nil: undefined }),
        modelName: fc.option(fc.constantFrom('m-flash', 'm-🐟', 'absent'), { nil: undefined }),
        userName: fc.option(fc.constantFrom('alice', 'bob'), { nil: undefined }),
      })
      .map(({ widths, offset, length, cut, ...names }) => {
        const start = cut ? fromSeconds + offset : fromSeconds;
        const end = start + (cut ? length : spanSeconds);
        const buckets: { startSeconds: number; endSeconds: number }[] = [];
        for (let at = Math.floor(start / 60) * 60, index = 0; at < end; index += 1) {
          const width = (widths[index % widths.length] ?? 1) * 60;
          buckets.push({ startSeconds: at, endSeconds: at + width });
          at += width;
        }
        const filters = Object.fromEntries(Object.entries(names).filter(([, value]) => value !== undefined));
        return { buckets, startSeconds: start, endSeconds: end, ...filters };
      });

  test('M15: statistics equal the ledger for any entries, partition, cut and filter, whatever is shipped again in whatever order', async () => {
    const spanMs = 5 * 3_600_000;
    let run = 0;
    const scenario = fc.record({
      entries: callEntries({ prefix: 'm15', startMs: 0, spanMs, max: 60 }),
      queries: fc.array(queries(0, spanMs / 1000), { minLength: 1, maxLength: 4 }),
      again: fc.array(fc.nat(59), { maxLength: 30 }),
      batch: fc.integer({ min: 1, max: 60 }),
    });
    await fc.assert(
      fc.asyncProperty(scenario, async (drawn) => {
        // Every run has a span of time of its own in the same database; 7 days keep them apart.
        const shiftMs = startMs + (run += 1) * 7 * 86_400_000;
        const entries = drawn.entries.map((entry) => ({
          ...entry,
          callId: `${entry.callId}-${run}`,
          acceptedAtMs: entry.acceptedAtMs + shiftMs,
        }));
        const store = engine().store();
        let added = 0;
        for (let at = 0; at < entries.length; at += drawn.batch) added += await store.appendEntries(entries.slice(at, at + drawn.batch));
        assert.equal(added, entries.length);
        const again = drawn.again.flatMap((index) => entries[index] ?? []);
        assert.equal(await store.appendEntries([...again, ...again]), 0);
        for (const query of drawn.queries) {
          const shifted = shiftQuery(query, shiftMs / 1000);
          assert.deepEqual(await store.queryStatistics({ ...shifted, rowsMax: 10_000 }), sumStatistics(entries, shifted));
        }
      }),
      { numRuns: 60 },
    );
  });

  test('two handles that append overlapping batches at once book every call once', async () => {
    const stores = [engine().store(), await engine().openAnother()];
    const entries = Array.from({ length: 400 }, (_, index) =>
      createEntry(`race-${index}`, { userName: 'race', acceptedAtMs: startMs + index * 1000 }),
    );
    const appended = await Promise.all(
      Array.from({ length: 40 }, (_, batch) =>
        (stores[batch % 2] ?? assert.fail()).appendEntries(entries.slice(Math.floor(batch / 2) * 20, Math.floor(batch / 2) * 20 + 40)),
      ),
    );
    assert.equal(
      appended.reduce((sum, added) => sum + added, 0),
      400,
    );
    const query = oneBucket('race', 3600);
    assert.deepEqual(
      await engine()
        .store()
        .queryStatistics({ ...query, rowsMax: 10 }),
      sumStatistics(entries, query),
    );
  });

  test('a failed call counts nowhere, a call in its first millisecond and not one in the last', async () => {
    const store = engine().store();
    const minute = { userName: 'edges', usage: { outputTokens: 1 } };
    await store.appendEntries([
      createEntry('edge-first', { ...minute, acceptedAtMs: startMs }),
      createEntry('edge-last', { ...minute, acceptedAtMs: startMs + 59_999 }),
      createEntry('edge-next', { ...minute, acceptedAtMs: startMs + 60_000 }),
      createEntry('edge-failed', { ...minute, acceptedAtMs: startMs, end: 'failed' }),
    ]);
    const buckets = [{ startSeconds, endSeconds: startSeconds + 60 }];
    const counts = async (from: number, until: number): Promise<number | undefined> => {
      const rows = await store.queryStatistics({ buckets, startSeconds: from, endSeconds: until, userName: 'edges', rowsMax: 5 });
      return rows[0]?.callCount;
    };
    assert.equal(await counts(startSeconds, startSeconds + 60), 2);
    assert.equal(await counts(startSeconds, startSeconds + 59), 1);
    assert.equal(await counts(startSeconds + 1, startSeconds + 60), 1);
    assert.equal(await counts(startSeconds + 1, startSeconds + 59), undefined);
    assert.equal(await counts(startSeconds - 3600, startSeconds + 3600), 2);
  });

  test('one row more than the maximum tells that there are more', async () => {
    const store = engine().store();
    await store.appendEntries(
      [1, 2, 3, 4].map((number) => createEntry(`rows-${number}`, { userName: 'rows', requestedModel: `m-${number}` })),
    );
    const query = oneBucket('rows', 60);
    assert.equal((await store.queryStatistics({ ...query, rowsMax: 2 })).length, 3);
    assert.equal((await store.queryStatistics({ ...query, rowsMax: 4 })).length, 4);
    assert.deepEqual(await store.queryStatistics({ ...query, buckets: [], rowsMax: 4 }), []);
  });

  test('hostile names are data in rows and filters, sorted by code point', async () => {
    const store = engine().store();
    const entries = hostileNames.map((hostile, index) =>
      createEntry(`hostile-${index}`, { userName: 'hostile', keyName: hostile, requestedModel: hostile }),
    );
    await store.appendEntries(entries);
    const query = oneBucket('hostile', 60);
    assert.deepEqual(await store.queryStatistics({ ...query, rowsMax: 100 }), sumStatistics(entries, query));
    for (const hostile of hostileNames) {
      const rows = await store.queryStatistics({ ...query, tokenName: hostile, modelName: hostile, rowsMax: 100 });
      assert.deepEqual(
        rows.map((row) => row.tokenName),
        [hostile],
      );
    }
  });
}

/** A user's statistics of the first seconds, in one bucket. */
function oneBucket(userName: string, lengthSeconds: number): Omit<StatisticsQuery, 'rowsMax'> {
  const bucket = { startSeconds, endSeconds: startSeconds + lengthSeconds };
  return { ...bucket, buckets: [bucket], userName };
}

function shiftQuery<Query extends Omit<StatisticsQuery, 'rowsMax'>>(query: Query, seconds: number): Query {
  const buckets = query.buckets.map((bucket) => ({ startSeconds: bucket.startSeconds + seconds, endSeconds: bucket.endSeconds + seconds }));
  return { ...query, buckets, startSeconds: query.startSeconds + seconds, endSeconds: query.endSeconds + seconds };
}
