import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { readTags } from '../../src/accounts/call-tags.ts';
import { otherTag, tagBounds } from '../../src/billing/calls/tag-bounds.ts';
import { percentileOf } from '../../src/billing/calls/duration-histogram.ts';
import type { UserScope } from '../../src/billing/calls/call-facts-store.ts';
import { isBilled, type CallEntry } from '../../src/billing/ledger/call-entry.ts';
import { buildReceipt } from '../../src/billing/receipts/build-receipt.ts';
import { createStatistics } from '../../src/billing/statistics/statistics.ts';
import { queryUsage } from '../../src/billing/usage/query-usage.ts';
import type { UsageLine, UsageQuestion } from '../../src/billing/usage/usage-question.ts';
import { tagOf, type UsageDimension } from '../../src/billing/usage/usage-store.ts';
import type { Store } from '../../src/store/store.ts';
import { followAll } from './call-facts-suite.ts';
import { callEntries, createEntry } from './call-entries.ts';
import { useEngine } from './store-under-test.ts';
import type { StoreUnderTest } from './store-under-test.ts';
import { startMs } from './suite-start.ts';

const daySeconds = 86_400;
const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kathmandu', 'Australia/Lord_Howe', 'Asia/Shanghai'];
const dimensions: readonly UsageDimension[] = [
  ...(['user', 'key', 'model', 'upstream', 'upstreamModel', 'interface', 'end', 'team'] as const),
  ...(['tag:project', 'tag:env', 'tag:never'] as const),
];

const valuesOf = (entry: CallEntry, dimension: UsageDimension): readonly string[] => {
  const tag = tagOf(dimension);
  if (tag !== undefined) return [readTags(entry.tags ?? '')[tag] ?? ''];
  if (dimension === 'team') return [entry.team?.name ?? ''];
  const { userName, keyName, requestedModel: model, upstream, upstreamModel, dialect, end } = entry;
  return {
    user: [userName],
    key: [userName, keyName],
    model: [model],
    upstream: [upstream],
    upstreamModel: [upstreamModel],
    interface: [dialect],
    end: [end],
  }[dimension as 'user'];
};

/** The contract of every store for questions about usage. */
export function usageSuite(open: () => Promise<StoreUnderTest>): void {
  const engine = useEngine(open);
  const plain: Omit<UsageQuestion, 'startSeconds' | 'endSeconds'> = {
    timeZone: 'UTC',
    granularity: 'auto',
    extra: [],
    groupBy: [],
    filter: {},
    scope: 'all',
    limit: 12,
    rankBy: 'amount',
  };
  let run = 0;
  /** Every run has 40 days of its own in the same database. The second has a change of clocks. */
  const nextStartMs = (): number => startMs + (run += 1) * 400 * daySeconds * 1000;

  const cellsOf = ({ total, buckets }: UsageLine) =>
    [total, ...buckets].map((sums) => [sums.amountNanoUsd, sums.calls, sums.tokensIn, sums.tokensOut, sums.useTimeMs, sums.failed]);

  test('series and other are the totals, and the totals are the statistics and the receipts, for any calls, zones, cuts and groups', async () => {
    const scenario = fc.record({
      entries: callEntries({ prefix: 'usage', startMs: 0, spanMs: 12 * daySeconds * 1000, max: 60 }),
      cut: fc.tuple(fc.nat(3 * daySeconds), fc.integer({ min: 1, max: 12 * daySeconds })),
      zone: fc.constantFrom(...zones),
      booksZone: fc.constantFrom(...zones),
      granularity: fc.constantFrom<UsageQuestion['granularity']>('auto', 'none', 'hour', 'day', 'week', 'month'),
      groupBy: fc.uniqueArray(fc.constantFrom(...dimensions), { maxLength: 2 }),
      limit: fc.integer({ min: 1, max: 4 }),
      rankBy: fc.constantFrom<UsageQuestion['rankBy']>('amount', 'calls', 'tokensIn'),
      scope: fc.constantFrom<UserScope>('all', 'all', ['alice'], ['bob', 'Ångström']),
      // Days are packed between bookings and after them, and some bookings are late for a packed day.
      packing: fc.record({ before: fc.nat(60), after: fc.boolean() }),
    });
    const handles = [engine().store(), await engine().openAnother()] as const;
    // A day of another run may be packed too; those of this run are the newest.
    const packDays = async (store: Store, nowMs: number): Promise<void> => {
      for (let days = 0; days < 12; days += 1) if ((await store.packUsageDay(nowMs)) === 'done') break;
      for (let steps = 0; steps < 400; steps += 1) if ((await store.packCalls(nowMs)) === 'done') break;
    };
    await fc.assert(
      fc.asyncProperty(scenario, async ({ entries: drawn, cut, zone, booksZone, packing, ...asked }) => {
        const shiftMs = nextStartMs();
        const entries = drawn.map((entry) => ({ ...entry, callId: `${entry.callId}-${run}`, acceptedAtMs: entry.acceptedAtMs + shiftMs }));
        const [store, other] = run % 2 === 0 ? handles : [handles[1], handles[0]];
        const startSeconds = Math.floor(shiftMs / 1000) + cut[0];
        const span = { startSeconds, endSeconds: startSeconds + cut[1] };
        const question = { ...plain, ...asked, ...span, timeZone: zone };
        const nowMs = shiftMs + 12 * daySeconds * 1000;
        await store.sumDaysOf(booksZone);
        await store.appendEntries(entries.slice(0, packing.before));
        await followAll(store);
        await packDays(store, nowMs);
        // Both keep the packs that they have read.
        for (const each of handles) await queryUsage(each, question, nowMs);
        await other.appendEntries(entries.slice(packing.before));
        await followAll(store);
        if (packing.after) await packDays(other, nowMs);
        const answer = await queryUsage(store, question, nowMs);
        assert.deepEqual(await queryUsage(other, question, nowMs), answer);
        const inSpan = entries.filter(
          ({ acceptedAtMs, userName }) =>
            acceptedAtMs >= span.startSeconds * 1000 &&
            acceptedAtMs < span.endSeconds * 1000 &&
            (asked.scope === 'all' || asked.scope.includes(userName)),
        );
        const counted = inSpan.filter(isBilled);
        const receipts = counted.reduce((sum, entry) => sum + BigInt(buildReceipt([entry], true).total.nano_usd), 0n);
        assert.equal(answer.totals.total.amountNanoUsd, receipts);
        assert.equal(answer.totals.total.calls, counted.length);
        let [amount, tokens] = [0n, 0];
        for (const record of await createStatistics({ store, timeZone: zone }).query({ granularity: 3, ...span }, {})) {
          if (asked.scope !== 'all' && !asked.scope.includes(record.userName)) continue;
          const [whole = '', nanos = ''] = JSON.stringify(record.totalAmount).split('.');
          amount += BigInt(whole + nanos.padEnd(9, '0'));
          tokens += record.totalPromptTokens + record.totalCompletionTokens;
        }
        assert.deepEqual(
          [answer.totals.total.amountNanoUsd, answer.totals.total.tokensIn + answer.totals.total.tokensOut],
          [amount, tokens],
        );
        const lines = [...answer.series, ...(answer.other === undefined ? [] : [answer.other])].map(cellsOf);
        if (asked.groupBy.length > 0) {
          const added = cellsOf(answer.totals).map((cells, row) =>
            cells.map((cell, column) =>
              lines.reduce<number | bigint | undefined>(
                (sum, line) => {
                  const value = line[row]?.[column];
                  if (value === undefined || sum === undefined) return sum ?? value;
                  return typeof sum === 'bigint' || typeof value === 'bigint' ? BigInt(sum) + BigInt(value) : sum + value;
                },
                typeof cell === 'bigint' ? 0n : cell === undefined ? undefined : 0,
              ),
            ),
          );
          assert.deepEqual(added, cellsOf(answer.totals));
        }
        for (const series of answer.series) {
          const own = counted.filter(
            (entry) => asked.groupBy.flatMap((dimension) => valuesOf(entry, dimension)).join('\0') === series.names.join('\0'),
          );
          assert.deepEqual(
            [series.total.calls, series.total.amountNanoUsd],
            [own.length, own.reduce((sum, entry) => sum + entry.charge.amountNanoUsd, 0n)],
            series.names.join(' / '),
          );
        }
        // Buckets hold the calls of their own time.
        for (const [position, sums] of answer.totals.buckets.entries()) {
          const [from, until] = [answer.bucketStarts[position] ?? 0, answer.bucketStarts[position + 1] ?? Infinity];
          const own = counted.filter(({ acceptedAtMs }) => acceptedAtMs >= from * 1000 && acceptedAtMs < until * 1000);
          assert.equal(sums.calls, own.length);
        }
      }),
      { numRuns: 20 },
    );
  });

  test('days that are packed while late calls are booked from several processes keep every call', async () => {
    const stores = [engine().store(), await engine().openAnother(), await engine().openAnother()] as const;
    const [reader, booker, packer] = stores;
    const fromMs = nextStartMs();
    const days = 4;
    const entries = Array.from({ length: 120 }, (_, index) =>
      createEntry(`packed-${index}`, {
        acceptedAtMs: fromMs + (index % days) * daySeconds * 1000 + index,
        userName: `packer-${index % 3}`,
        charge: { amountNanoUsd: 123_456_789_012_345_678n + BigInt(index), lines: [], priceId: 'model' },
      }),
    );
    await reader.sumDaysOf('UTC');
    const question: UsageQuestion = {
      ...plain,
      startSeconds: fromMs / 1000,
      endSeconds: fromMs / 1000 + days * daySeconds,
      granularity: 'day',
      groupBy: ['user', 'model'],
    };
    const nowMs = fromMs + days * 2 * daySeconds * 1000;
    let isOver = false;
    const packing = Promise.all(
      [reader, packer].map(async (store) => {
        while (!isOver) {
          await store.packUsageDay(nowMs);
          await queryUsage(store, question, nowMs);
        }
      }),
    );
    for (let at = 0; at < entries.length; at += 8) {
      await Promise.all([booker.appendEntries(entries.slice(at, at + 4)), packer.appendEntries(entries.slice(at + 4, at + 8))]);
    }
    isOver = true;
    await packing;
    const amount = entries.reduce((sum, entry) => sum + entry.charge.amountNanoUsd, 0n);
    const check = async (): Promise<void> => {
      for (const store of stores) {
        const { totals, series, other } = await queryUsage(store, question, nowMs);
        assert.deepEqual([totals.total.calls, totals.total.amountNanoUsd], [entries.length, amount]);
        assert.deepEqual(
          totals.buckets.map(({ calls }) => calls),
          Array.from({ length: days }, () => entries.length / days),
        );
        assert.equal(
          series.reduce((sum, { total }) => sum + total.amountNanoUsd, other?.total.amountNanoUsd ?? 0n),
          amount,
        );
      }
    };
    await check();
    for (let step = 0; step < days; step += 1) await packer.packUsageDay(nowMs);
    await check();
    // Any change of the sums of a day deletes its pack.
    await engine().tamper(`update usage_days set call_count = call_count + 1 where user_name = 'packer-0'`);
    const changed = await queryUsage(reader, question, nowMs);
    assert.equal(changed.totals.total.calls, entries.length + days);
    await engine().tamper(`update usage_days set call_count = call_count - 1 where user_name = 'packer-0'`);
    // Days of another zone are other days.
    await reader.sumDaysOf('Asia/Kathmandu');
    await check();
  });

  test('failures, cuts and percentiles are those of the calls, from sums and from single calls alike', async () => {
    const store = engine().store();
    const fromMs = nextStartMs();
    const ends = ['finished', 'finished', 'cut', 'failed', 'lost'] as const;
    const entries = Array.from({ length: 200 }, (_, index) =>
      createEntry(`service-${index}`, {
        acceptedAtMs: fromMs + index * 60_000,
        end: ends[index % 5] ?? 'lost',
        upstream: index % 2 === 0 ? 'one' : 'two',
        requestedModel: 'm-service',
        durationMs: 100 + index * 10,
        firstByteMs: 50 + index,
        failedAttempts: index === 7 ? [{ upstream: 'one', credential: 'c', upstreamModel: 'x', errorCode: 'e', durationMs: 5 }] : [],
      }),
    );
    await store.appendEntries(entries);
    await followAll(store);
    const question: UsageQuestion = {
      ...plain,
      startSeconds: fromMs / 1000 + 30,
      endSeconds: fromMs / 1000 + 190 * 60,
      granularity: 'none',
      extra: ['failed', 'cut', 'firstByte', 'duration'],
      groupBy: ['upstream'],
    };
    const inSpan = entries.slice(1, 190);
    for (const filter of [{}, { models: ['m-service'] }]) {
      const answer = await queryUsage(store, { ...question, filter }, fromMs);
      assert.equal(answer.family, 'models' in filter ? 'facts' : 'service');
      const { ended, failed, cut, firstByte, duration } = answer.totals.total;
      assert.deepEqual(
        [ended, failed, cut],
        [inSpan.length, inSpan.filter(({ end }) => end === 'failed').length, inSpan.filter(({ end }) => end === 'cut').length],
      );
      const timed = inSpan.filter(({ end }) => end !== 'failed' && end !== 'lost').map(({ durationMs }) => durationMs);
      const median = percentileOf(duration ?? assert.fail(), 0.5) ?? assert.fail();
      assert.ok(Math.abs(median / (timed[Math.floor(timed.length / 2)] ?? 0) - 1) < 0.15, String(median));
      assert.equal(
        firstByte?.reduce((sum, count) => sum + count, 0),
        timed.length,
      );
      assert.deepEqual(answer.series.map(({ names }) => names.join('/')).toSorted(), ['one', 'two']);
      const other = answer.other?.total;
      assert.deepEqual([other?.ended, other?.failed, other?.amountNanoUsd], [0, 0, 0n]);
    }
  });

  test('excluded and selected calls add up to the whole, for each kind of name, and names without calls exclude none', async () => {
    const store = engine().store();
    const fromMs = nextStartMs();
    const entries = Array.from({ length: 60 }, (_, index) =>
      createEntry(`excluded-${index}`, {
        acceptedAtMs: fromMs + index * 60_000,
        userName: `u${index % 3}`,
        keyId: `k${index % 4}`,
        keyName: `n${index % 4}`,
        requestedModel: `m${index % 5}`,
        upstream: `up${index % 2}`,
        upstreamModel: `um${index % 5}`,
        end: index % 7 === 0 ? 'cut' : 'finished',
        ...(index % 2 === 0 && { tags: 'project=blue' }),
      }),
    );
    await store.appendEntries(entries);
    await followAll(store);
    const span = { startSeconds: fromMs / 1000, endSeconds: fromMs / 1000 + 2 * daySeconds };
    const callsOf = async (more: Partial<UsageQuestion>): Promise<number> =>
      (await queryUsage(store, { ...plain, ...span, granularity: 'none', ...more }, fromMs)).totals.total.calls;
    for (const some of [
      { users: ['u1'] },
      { users: ['u1', 'u2'] },
      { keys: [{ userName: 'u0', keyName: 'n0' }] },
      { keys: [{ keyId: 'k3' }] },
      { models: ['m1', 'm4'] },
      { upstreams: ['up0'] },
      { upstreamModels: ['um2'] },
      { ends: ['cut'] },
      { tags: { project: ['blue'] } },
      { tags: { project: [''] } },
      { teams: [''] },
      { models: ['never'] },
      { upstreams: ['never'] },
    ] satisfies UsageQuestion['filter'][]) {
      const [selected, rest] = [await callsOf({ filter: some }), await callsOf({ excluded: [some] })];
      assert.equal(selected + rest, 60, JSON.stringify(some));
      const isNever = JSON.stringify(some).includes('never');
      assert.equal(selected > 0, !isNever, JSON.stringify(some));
    }
    const both = await queryUsage(
      store,
      { ...plain, ...span, groupBy: ['user'], excluded: [{ users: ['u1'] }, { models: ['m0'] }] },
      fromMs,
    );
    const wanted = entries.filter(({ userName, requestedModel }) => userName !== 'u1' && requestedModel !== 'm0');
    assert.deepEqual(both.series.map(({ names }) => names.join()).toSorted(), ['u0', 'u2']);
    assert.equal(both.totals.total.calls, wanted.length, 'a call is left out if any of the filters selects it');
    // Both kinds of names, so that the sums of users, of upstreams, and of single calls answer.
    for (const pair of [
      { users: ['u1'], models: ['m0'] },
      { keys: [{ userName: 'u0', keyName: 'n0' }], models: ['m1', 'm2'] },
      { upstreams: ['up0'], ends: ['cut'] },
      { users: ['u2'], upstreams: ['up1'], tags: { project: ['blue', ''] } },
      { users: ['u1'], models: ['never'] },
    ] satisfies UsageQuestion['filter'][]) {
      const selected = await callsOf({ filter: pair });
      assert.equal(await callsOf({ excluded: [pair] }), 60 - selected, JSON.stringify(pair));
      assert.equal(selected > 0, !JSON.stringify(pair).includes('never'), JSON.stringify(pair));
    }
    assert.equal(await callsOf({ excluded: [{}] }), 60, 'a filter without members takes nothing away');
  });

  test('a year by team, tag and key is that of its calls once it was added up, is refused before, and late calls count at once', async () => {
    const [store, other] = [engine().store(), await engine().openAnother()];
    const fromMs = nextStartMs();
    const dayMs = daySeconds * 1000;
    const entryOf = (index: number, acceptedAtMs: number) =>
      createEntry(`year-${index}`, {
        acceptedAtMs,
        userName: `yu${index % 3}`,
        keyId: `yk${index % 4}`,
        end: index % 7 === 0 ? 'failed' : 'finished',
        ...(index % 5 !== 0 && { team: { id: `yt-${index % 2}`, name: `yt${index % 2}` } }),
        ...(index % 4 !== 0 && { tags: `env=e${index % 2},project=p${index % 3}` }),
      });
    const entries = Array.from({ length: 90 }, (_, nth) => nth * 4).map((day) =>
      entryOf(day, fromMs + day * dayMs + (day % 24) * 3_600_000),
    );
    await store.appendEntries(entries);
    await followAll(store);
    const nowMs = fromMs + 366 * dayMs;
    const span = { startSeconds: fromMs / 1000, endSeconds: fromMs / 1000 + 365 * daySeconds };
    const question: UsageQuestion = { ...plain, ...span, granularity: 'month', limit: 50, rankBy: 'failed', extra: ['failed'] };
    const check = async (calls: readonly CallEntry[]): Promise<void> => {
      for (const asked of [
        { groupBy: ['team'] },
        { groupBy: ['tag:project'] },
        { groupBy: ['tag:env', 'user'] },
        { groupBy: ['tag:project', 'tag:env'] },
        { groupBy: ['team', 'model'], filter: { keys: [{ keyId: 'yk1' }] } },
        {
          groupBy: ['tag:project'],
          filter: { tags: { env: ['e1', 'e0'] } },
          excluded: [{ teams: ['yt1'] }, { tags: { env: ['e0'] }, users: ['yu1'] }, { teams: ['never'] }],
        },
      ] satisfies Partial<UsageQuestion>[]) {
        const { groupBy, filter = {}, excluded = [] }: Pick<UsageQuestion, 'groupBy'> & Partial<UsageQuestion> = asked;
        const wanted = calls.filter(
          (entry) =>
            (filter.keys === undefined || entry.keyId === 'yk1') &&
            (filter.tags === undefined || entry.tags !== undefined) &&
            (excluded.length === 0 ||
              !(entry.team?.name === 'yt1' || (entry.userName === 'yu1' && readTags(entry.tags ?? '')['env'] === 'e0'))),
        );
        const expected = new Map<string, number[]>();
        for (const entry of wanted) {
          const sums = expected.getOrInsertComputed(groupBy.flatMap((dimension) => valuesOf(entry, dimension)).join('/'), () => [0, 0, 0]);
          sums[0] = (sums[0] ?? 0) + (isBilled(entry) ? 1 : 0);
          sums[1] = (sums[1] ?? 0) + (entry.end === 'failed' ? 1 : 0);
          sums[2] = (sums[2] ?? 0) + (isBilled(entry) ? Number(entry.charge.amountNanoUsd) : 0);
        }
        for (const handle of [store, other]) {
          const { series, family } = await queryUsage(handle, { ...question, ...asked }, nowMs);
          assert.equal(family, 'names');
          assert.deepEqual(
            new Map(series.map(({ names, total }) => [names.join('/'), [total.calls, total.failed, Number(total.amountNanoUsd)]])),
            expected,
            JSON.stringify(asked),
          );
        }
      }
    };
    const refused = { name: 'UsageRefusedError', code: 'not_ready', message: /still being added up .* are ready/ };
    await assert.rejects(queryUsage(store, { ...question, groupBy: ['team'] }, nowMs), refused);
    await store.packCalls(nowMs);
    await assert.rejects(queryUsage(other, { ...question, groupBy: ['team'] }, nowMs), refused, 'a part is not shown as the whole');
    while ((await store.packCalls(nowMs)) === 'more');
    await check(entries);
    // One in an hour that has calls, one in an hour without.
    const late = entryOf(1001, fromMs + 100 * dayMs + 4 * 3_600_000 + 60_000);
    const first = entryOf(1002, fromMs + 3 * dayMs);
    await other.appendEntries([late, first]);
    await followAll(store);
    await check([...entries, late, first]);
    while ((await other.packCalls(nowMs)) === 'more');
    await check([...entries, late, first]);
  });

  test('values of a tag beyond the bound count as one, and the groups still add up to the whole', async () => {
    const store = engine().store();
    const fromMs = nextStartMs();
    const most = tagBounds.valuesOfName;
    const tagged = Array.from({ length: most + 40 }, (_, index) =>
      createEntry(`tagged-${index}`, { acceptedAtMs: fromMs + index, tags: `session=s${index}` }),
    );
    await store.appendEntries([...tagged, createEntry('untagged', { acceptedAtMs: fromMs })]);
    await followAll(store);
    const span = { startSeconds: fromMs / 1000, endSeconds: fromMs / 1000 + 3600 };
    const question = { ...plain, ...span, granularity: 'none', groupBy: ['tag:session'], rankBy: 'calls', limit: 2 } as const;
    const answer = await queryUsage(store, question, fromMs);
    assert.deepEqual([answer.series[0]?.names, answer.series[0]?.total.calls], [[otherTag], 40]);
    assert.equal(answer.totals.total.calls, most + 41);
    assert.equal(answer.other?.total.calls, most);
    const untagged = await queryUsage(store, { ...question, filter: { tags: { session: [''] } } }, fromMs);
    assert.deepEqual([untagged.series[0]?.names, untagged.totals.total.calls], [[''], 1]);
    const { calls } = await store.scanCalls({ filter: { tags: { session: ['s7', otherTag] } }, scope: 'all', limit: 100, workMs: 1000 });
    assert.equal(calls.length, 41);
  });

  test('a comparison has the same groups in the span before', async () => {
    const store = engine().store();
    const fromMs = nextStartMs();
    const at = (day: number, index: number): number => fromMs + day * daySeconds * 1000 + index;
    await store.appendEntries([
      ...[1, 2, 3].map((index) => createEntry(`before-${index}`, { acceptedAtMs: at(0, index), requestedModel: 'm-old' })),
      createEntry('before-new', { acceptedAtMs: at(0, 9), requestedModel: 'm-new' }),
      ...[1, 2].map((index) => createEntry(`now-${index}`, { acceptedAtMs: at(1, index), requestedModel: 'm-new' })),
    ]);
    const startSeconds = fromMs / 1000 + daySeconds;
    const question: UsageQuestion = {
      ...plain,
      startSeconds,
      endSeconds: startSeconds + daySeconds,
      groupBy: ['model'],
      compare: 'previous',
    };
    const answer = await queryUsage(store, question, fromMs);
    assert.deepEqual(
      answer.series.map(({ names, total }) => [...names, total.calls]),
      [['m-new', 2]],
    );
    const { comparison = assert.fail() } = answer;
    assert.deepEqual(
      comparison.series.map(({ names, total }) => [...names, total.calls]),
      [['m-new', 1]],
    );
    assert.deepEqual([comparison.totals.total.calls, comparison.other?.total.calls], [4, 3]);
    assert.equal(comparison.endSeconds, startSeconds);
  });

  test('a question across both kinds of names is refused beyond 31 days, with what would do', async () => {
    const question: UsageQuestion = { ...plain, startSeconds: 0, endSeconds: 60 * daySeconds, groupBy: ['user', 'upstream'] };
    const refused = { name: 'UsageRefusedError', code: 'grouping_too_wide', message: /at most 31 days; ask for a shorter span/ };
    await assert.rejects(queryUsage(engine().store(), question, 0), refused);
    await assert.rejects(queryUsage(engine().store(), { ...question, groupBy: ['upstream'], scope: ['alice'] }, 0), refused);
    await assert.rejects(queryUsage(engine().store(), { ...question, granularity: 'minute', groupBy: [] }, 0), {
      code: 'too_many_buckets',
    });
    await assert.rejects(queryUsage(engine().store(), { ...question, endSeconds: 0 }, 0), { code: 'invalid_range' });
  });
}
