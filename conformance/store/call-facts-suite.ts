import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { readTags } from '../../src/accounts/call-tags.ts';
import type { CallFilter, CallPlace, CallScan, CallSummary, UserScope } from '../../src/billing/calls/call-facts-store.ts';
import { findCall } from '../../src/billing/calls/find-call.ts';
import type { CallEntry } from '../../src/billing/ledger/call-entry.ts';
import { settleDispute } from '../../src/billing/ledger/settle-dispute.ts';
import type { Store } from '../../src/store/store.ts';
import { usualOrLong } from '../support/scale.ts';
import { callEntries, createEntry } from './call-entries.ts';
import { hostileNames } from './hostile-names.ts';
import { useEngine } from './store-under-test.ts';
import type { StoreUnderTest } from './store-under-test.ts';
import { startMs } from './suite-start.ts';

/** Writes the facts of everything that is booked. */
export async function followAll(store: Store, limit = 100): Promise<void> {
  for (let steps = 0; (await store.followCalls(limit, startMs)) === 'more'; steps += 1)
    assert.ok(steps < 10_000, 'the follower does not end');
}

/** Reads a list to its end, page by page. */
async function scanAll(store: Store, scan: Omit<CallScan, 'workMs'> & { readonly workMs?: number }): Promise<readonly CallSummary[]> {
  const calls: CallSummary[] = [];
  for (let after: CallPlace | undefined = scan.after, pages = 0; ; pages += 1) {
    assert.ok(pages < 10_000, 'the list does not end');
    const page = await store.scanCalls({ workMs: 1000, ...scan, ...(after === undefined ? {} : { after }) });
    calls.push(...page.calls);
    for (const { atMs } of page.calls) assert.ok(atMs >= page.searchedToMs, 'a call is older than the page says');
    if (page.next === undefined) return calls;
    after = page.next;
  }
}

/** What a filter means, in other code than the store's. */
function matches(entry: CallEntry, filter: CallFilter, scope: UserScope): boolean {
  const { amountNanoUsd = {}, tokens = {}, durationMs = {}, firstByteMs = {}, flags = {} } = filter;
  const { inputTokens = 0, cacheReadTokens = 0, cacheWrite5mTokens = 0, cacheWrite1hTokens = 0, outputTokens = 0 } = entry.usage;
  const total = inputTokens + cacheReadTokens + cacheWrite5mTokens + cacheWrite1hTokens + outputTokens;
  const isIn = <Value>(values: readonly Value[] | undefined, value: Value): boolean => values === undefined || values.includes(value);
  const isWithin = <Value extends number | bigint>(
    value: Value | undefined,
    range: { readonly min?: Value; readonly max?: Value },
  ): boolean =>
    (range.min === undefined || (value !== undefined && value >= range.min)) &&
    (range.max === undefined || (value !== undefined && value <= range.max));
  return (
    entry.acceptedAtMs >= (filter.startMs ?? 0) &&
    entry.acceptedAtMs < (filter.endMs ?? Infinity) &&
    (scope === 'all' || scope.includes(entry.userName)) &&
    isIn(filter.users, entry.userName) &&
    (filter.keys === undefined ||
      filter.keys.some((key) =>
        'keyId' in key ? key.keyId === entry.keyId : key.userName === entry.userName && key.keyName === entry.keyName,
      )) &&
    isIn(filter.models, entry.requestedModel) &&
    isIn(filter.upstreams, entry.upstream) &&
    isIn(filter.ends, entry.end) &&
    isIn(filter.teams, entry.team?.name ?? '') &&
    Object.entries(filter.tags ?? {}).every(([name, values]) => values.includes(readTags(entry.tags ?? '')[name] ?? '')) &&
    isIn(filter.interfaces, entry.dialect) &&
    isIn(filter.errorCodes, entry.errorCode ?? '') &&
    (filter.statusClasses === undefined || filter.statusClasses.includes(Math.floor((entry.upstreamStatus ?? 0) / 100))) &&
    (flags.stream === undefined || flags.stream === entry.stream) &&
    (flags.estimated === undefined || flags.estimated === entry.estimated) &&
    isWithin(entry.charge.amountNanoUsd, amountNanoUsd) &&
    isWithin(total, tokens) &&
    isWithin(Math.round(entry.durationMs), durationMs) &&
    isWithin(entry.firstByteMs === undefined ? undefined : Math.round(entry.firstByteMs), firstByteMs)
  );
}

const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });
const some = <Value>(...values: readonly Value[]) => maybe(fc.uniqueArray(fc.constantFrom(...values), { minLength: 1, maxLength: 3 }));

const filters = fc
  .record({
    users: some('alice', 'bob', 'nobody'),
    keys: some({ keyId: 'key-1' }, { keyId: 'absent' }, { userName: 'alice', keyName: 'ci' }, { userName: 'bob', keyName: `o'brien` }),
    models: some('m-flash', 'm-🐟', 'absent'),
    interfaces: some('openai-chat', 'anthropic-messages'),
    teams: some('research', 'sales', '', 'absent'),
    tags: maybe(
      fc.dictionary(fc.constantFrom('project', 'env', 'absent'), fc.subarray(['search', 'web', 'prod', ''], { minLength: 1 }), {
        maxKeys: 2,
        noNullPrototype: true,
      }),
    ),
    ends: some<CallEntry['end']>('finished', 'client-left', 'cut', 'failed', 'lost'),
    statusClasses: some(1, 2, 4, 5),
    flags: fc.record({ stream: fc.boolean(), estimated: fc.boolean() }, { requiredKeys: [] }),
    amountNanoUsd: maybe(fc.record({ min: fc.bigInt({ min: 0n, max: 2n ** 55n }) })),
    tokens: maybe(fc.record({ max: fc.nat(200_000) })),
    durationMs: maybe(fc.record({ min: fc.nat(1e7), max: fc.nat(1e7) }, { requiredKeys: [] })),
    firstByteMs: maybe(fc.record({ min: fc.nat(1e7) })),
  })
  .map((filter): CallFilter => Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined)));

/** The contract of every store for lists and counts of calls. */
export function callFactsSuite(open: () => Promise<StoreUnderTest>): void {
  const engine = useEngine(open);
  const spanMs = 3_600_000;
  let run = 0;
  /** Every run has a span of time of its own in the same database. */
  const nextSpan = (): { readonly startMs: number; readonly endMs: number } => {
    const from = startMs + (run += 1) * 7 * 86_400_000;
    return { startMs: from, endMs: from + spanMs };
  };

  test('pages have every call that a filter selects once, newest first, for any calls, filter, scope and size of page', async () => {
    const scenario = fc.record({
      entries: callEntries({ prefix: 'scan', startMs: 0, spanMs, max: 50 }),
      filters: fc.array(filters, { minLength: 1, maxLength: 5 }),
      scope: fc.constantFrom<UserScope>('all', 'all', ['alice'], ['bob', 'Ångström'], []),
      limit: fc.integer({ min: 1, max: 60 }),
      workMs: fc.constantFrom(-1, 1000),
      step: fc.integer({ min: 1, max: 80 }),
    });
    await fc.assert(
      fc.asyncProperty(scenario, async ({ entries: drawn, ...asked }) => {
        const span = nextSpan();
        const entries = drawn.map((entry) => ({
          ...entry,
          callId: `${entry.callId}-${run}`,
          acceptedAtMs: entry.acceptedAtMs + span.startMs,
        }));
        const store = engine().store();
        await store.appendEntries(entries);
        await followAll(store, asked.step);
        for (const filter of asked.filters) {
          const found = await scanAll(store, { ...asked, filter: { ...filter, ...span } });
          const expected = entries.filter((entry) => matches(entry, { ...filter, ...span }, asked.scope));
          assert.deepEqual(found.map(({ callId }) => callId).toSorted(), expected.map(({ callId }) => callId).toSorted());
          assert.deepEqual(
            found.map(({ atMs }) => atMs),
            found.map(({ atMs }) => atMs).toSorted((one, other) => other - one),
          );
        }
      }),
      { numRuns: usualOrLong(12, 40) },
    );
  });

  test('a call in a list says what its ledger row says', async () => {
    const span = nextSpan();
    const store = engine().store();
    const notes = [{ kind: 'dropped', field: 'top_k', reason: 'unknown' }] as const;
    const entry = createEntry('told', {
      acceptedAtMs: span.startMs,
      stream: true,
      estimated: true,
      end: 'cut',
      errorCode: 'upstream_reset',
      servedModel: 'm-flash-002',
      firstByteMs: 41.6,
      durationMs: 812.25,
      translation: { upstreamDialect: 'anthropic-messages', notes },
      charge: { amountNanoUsd: 9_007_199_254_740_993n, lines: [] },
    });
    await store.appendEntries([entry]);
    await followAll(store);
    const [told] = await scanAll(store, { filter: span, scope: 'all', limit: 5 });
    const { number, ...described } = told ?? assert.fail();
    assert.equal(typeof number, 'number');
    assert.deepEqual(described, {
      atMs: span.startMs,
      callId: 'told',
      userName: 'alice',
      keyId: 'key-1',
      keyName: 'ci',
      model: 'm-flash',
      servedModel: 'm-flash-002',
      upstream: 'openai',
      upstreamModel: 'm-flash-2026-01-01',
      interface: 'openai-chat',
      end: 'cut',
      errorCode: 'upstream_reset',
      status: 200,
      flags: ['stream', 'translated', 'estimated', 'dropped'],
      promptTokens: 10,
      completionTokens: 5,
      firstByteMs: 42,
      durationMs: 812,
      amountNanoUsd: 9_007_199_254_740_993n,
    });
  });

  test('a call has the cost and tokens of its parts and the end of its last round, in whatever order they are booked', async () => {
    const store = engine().store();
    for (const order of ['first', 'last', 'together'] as const) {
      const span = nextSpan();
      const callId = `whole-${order}`;
      const own = { acceptedAtMs: span.startMs, parentCallId: callId };
      const call = createEntry(callId, { acceptedAtMs: span.startMs, disputed: { figures: [], reported: {} } });
      const rate = () => ({ amountNanoUsd: 1500n, lines: [] });
      const settled = settleDispute(call, { decision: 'corrected', after: { inputTokens: 4, outputTokens: 5 }, by: 'ann', atMs: 0 }, rate);
      const parts = [
        createEntry(`${callId}.1.tools`, { ...own, toolUsage: { webSearches: 1 }, usage: {}, charge: { amountNanoUsd: 7n, lines: [] } }),
        createEntry(`${callId}.2`, { ...own, end: 'cut', usage: { outputTokens: 100 }, charge: { amountNanoUsd: 40n, lines: [] } }),
        settled,
      ];
      const batches = { first: [[call], parts], last: [parts.slice(0, 1), parts.slice(1), [call]], together: [[...parts, call]] }[order];
      for (const batch of batches) {
        await store.appendEntries(batch);
        await followAll(store, 2);
      }
      await store.appendEntries([...parts, call]);
      await followAll(store);
      const found = await scanAll(store, { filter: span, scope: 'all', limit: 5 });
      const total = 1547n + settled.charge.amountNanoUsd;
      assert.deepEqual(
        found.map((one) => [one.callId, one.amountNanoUsd, one.promptTokens, one.completionTokens, one.end]),
        [[callId, total, 4, 105, 'cut']],
        order,
      );
      assert.equal((await scanAll(store, { filter: { ...span, ends: ['finished'] }, scope: 'all', limit: 5 })).length, 0);
    }
  });

  test('a list that is read while calls are booked has every call from its beginning once', async () => {
    const [store, other] = [engine().store(), await engine().openAnother()];
    const span = nextSpan();
    const at = (index: number): number => span.startMs + ((index * 7919) % spanMs);
    const make = (name: string, count: number) =>
      Array.from({ length: count }, (_, index) => createEntry(`${name}-${index}`, { acceptedAtMs: at(index), userName: 'reader' }));
    const before = make('before', 200);
    await store.appendEntries(before);
    await followAll(store);
    const later = make('later', 400);
    const booking = (async () => {
      for (let index = 0; index < later.length; index += 10) {
        await other.appendEntries(later.slice(index, index + 10));
        await other.followCalls(10, startMs);
      }
    })();
    const found = (await scanAll(store, { filter: { ...span, users: ['reader'] }, scope: 'all', limit: 7 })).map(({ callId }) => callId);
    await booking;
    assert.equal(new Set(found).size, found.length, 'a call came twice');
    assert.deepEqual(
      before.map(({ callId }) => callId).filter((callId) => !found.includes(callId)),
      [],
    );
    await followAll(store);
    assert.equal((await scanAll(store, { filter: span, scope: ['reader'], limit: 500 })).length, 600);
  });

  test('two followers write the facts of each call once', async () => {
    const stores = [engine().store(), await engine().openAnother()];
    const span = nextSpan();
    const entries = Array.from({ length: 300 }, (_, index) =>
      createEntry(`two-${index}`, { acceptedAtMs: span.startMs + index, requestedModel: `m-${index % 50}`, upstream: `u-${index % 50}` }),
    );
    await stores[0]?.appendEntries(entries);
    await Promise.all(stores.map((store) => followAll(store, 20)));
    // One may have left the rest to the other.
    await followAll(engine().store());
    const found = await scanAll(engine().store(), { filter: span, scope: 'all', limit: 500 });
    assert.deepEqual(
      found.map(({ callId, model }) => [callId, model]),
      entries.map(({ callId, requestedModel }) => [callId, requestedModel]).toReversed(),
    );
    assert.deepEqual(await engine().store().followProgress(), { waiting: 0, old: 0 });
  });

  test('the progress of the follower counts what is booked and has no facts, and says until when all calls have them', async () => {
    const store = engine().store();
    const span = nextSpan();
    await store.appendEntries([1, 2, 3].map((index) => createEntry(`waits-${index}`, { acceptedAtMs: span.startMs + index })));
    assert.deepEqual(await store.followProgress(), { waiting: 3, old: 0, completeUntilMs: span.startMs + 1 });
    await followAll(store);
    assert.deepEqual(await store.followProgress(), { waiting: 0, old: 0 });
  });

  test('counts by time add up to the list, by end, also when the time for work is short', async () => {
    const store = engine().store();
    const span = nextSpan();
    const ends = ['finished', 'cut', 'failed'] as const;
    const entries = Array.from({ length: 90 }, (_, index) =>
      createEntry(`counted-${index}`, {
        acceptedAtMs: span.startMs + index * 1000,
        end: ends[index % 3] ?? 'lost',
        userName: index < 45 ? 'alice' : 'bob',
      }),
    );
    await store.appendEntries(entries);
    await followAll(store);
    const counted = await store.countCallsByTime({ filter: span, scope: 'all', bucketMs: 30_000, workMs: 1000 });
    assert.equal(counted.searchedToMs, span.startMs);
    assert.deepEqual(
      counted.buckets.map(({ startMs: from, ends: { finished, cut, failed, lost } }) => [from - span.startMs, finished, cut, failed, lost]),
      [0, 30_000, 60_000].map((from) => [from, 10, 10, 10, 0]),
    );
    const own = await store.countCallsByTime({ filter: { ...span, ends: ['failed'] }, scope: ['alice'], bucketMs: spanMs, workMs: 1000 });
    assert.deepEqual(
      own.buckets.map(({ ends: { failed, finished } }) => [failed, finished]),
      [[15, 0]],
    );
  });

  test('hostile names are data in filters and in lists', async () => {
    const store = engine().store();
    const span = nextSpan();
    await store.appendEntries(
      hostileNames.map((name, index) =>
        createEntry(`hostile-fact-${index}`, {
          acceptedAtMs: span.startMs + index,
          userName: name,
          keyName: name,
          requestedModel: name,
          upstream: name,
        }),
      ),
    );
    await followAll(store);
    for (const [index, name] of hostileNames.entries()) {
      const filter = { ...span, users: [name], models: [name], upstreams: [name], keys: [{ userName: name, keyName: name }] };
      const found = await scanAll(store, { filter, scope: [name], limit: 5 });
      assert.deepEqual(
        found.map(({ callId, userName, keyName, model, upstream = '' }) => [callId, userName, keyName, model, upstream]),
        [[`hostile-fact-${index}`, name, name, name, name]],
      );
    }
  });

  test('a call is found by every id that its client has, with its rows and transactions, and by nobody outside of the scope', async () => {
    const store = engine().store();
    const span = nextSpan();
    const callId = 'req_01k9s7h2m4n6p8q0r2t4v6w8x0';
    const call = createEntry(callId, { acceptedAtMs: span.startMs, userName: 'finder', replyId: 'resp_of_vendor' });
    const part = createEntry(`${callId}.2`, { acceptedAtMs: span.startMs, userName: 'finder', parentCallId: callId });
    await store.appendEntries([part, call]);
    for (const id of [callId, callId.replace('req_', 'msg_'), `chatcmpl-${callId}`, 'resp_of_vendor']) {
      for (const scope of ['all', ['other', 'finder']] as const) {
        const found = (await findCall(store, id, scope)) ?? assert.fail(id);
        assert.deepEqual(found.rows, [call, part]);
        assert.equal(found.receipt.total.nano_usd, '3000');
        assert.deepEqual(
          found.transactions.map(({ amountNanoUsd }) => amountNanoUsd),
          [-3000n],
        );
      }
      assert.equal(await findCall(store, id, ['other']), undefined);
      assert.equal(await findCall(store, id, []), undefined);
    }
    for (const id of [`${callId}.2`, 'req_01k9s7h2m4n6p8q0r2t4v6w8x1', '']) assert.equal(await findCall(store, id, 'all'), undefined, id);
  });

  test('the transactions of a call are those that posted its rows', async () => {
    const store = engine().store();
    const span = nextSpan();
    await store.appendEntries([createEntry('posted', { acceptedAtMs: span.startMs, userName: 'payer', keyId: 'key-p' })]);
    const [posted, ...others] = await store.listCallTransactions(['posted', 'absent']);
    assert.deepEqual([posted?.amountNanoUsd, others.length], [-1500n, 0]);
  });
}
