import assert from 'node:assert/strict';
import { test } from 'node:test';

import { readTags } from '../../src/accounts/call-tags.ts';
import { otherTag, tagBounds } from '../../src/billing/calls/tag-bounds.ts';
import { percentileOf } from '../../src/billing/calls/duration-histogram.ts';
import { isBilled, type CallEntry } from '../../src/billing/ledger/call-entry.ts';
import { queryUsage } from '../../src/billing/usage/query-usage.ts';
import type { UsageQuestion } from '../../src/billing/usage/usage-question.ts';
import { followAll } from './call-facts-suite.ts';
import { createEntry } from './call-entries.ts';
import { useEngine } from './store-under-test.ts';
import type { StoreUnderTest } from './store-under-test.ts';
import { startMs } from './suite-start.ts';
import { usagePropertySuite } from './usage-property-suite.ts';
import { daySeconds, plainQuestion, valuesOf } from './usage-questions.ts';

/** The contract of every store for questions about usage. */
export function usageSuite(open: () => Promise<StoreUnderTest>): void {
  const engine = useEngine(open);
  let run = 0;
  /** Every run has 40 days of its own in the same database. The second has a change of clocks. */
  const nextStartMs = (): number => startMs + (run += 1) * 400 * daySeconds * 1000;

  usagePropertySuite(engine, nextStartMs);

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
      ...plainQuestion,
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
      ...plainQuestion,
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
      (await queryUsage(store, { ...plainQuestion, ...span, granularity: 'none', ...more }, fromMs)).totals.total.calls;
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
      { ...plainQuestion, ...span, groupBy: ['user'], excluded: [{ users: ['u1'] }, { models: ['m0'] }] },
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
    const question: UsageQuestion = { ...plainQuestion, ...span, granularity: 'month', limit: 50, rankBy: 'failed', extra: ['failed'] };
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
    const question = { ...plainQuestion, ...span, granularity: 'none', groupBy: ['tag:session'], rankBy: 'calls', limit: 2 } as const;
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
      ...plainQuestion,
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
    const question: UsageQuestion = { ...plainQuestion, startSeconds: 0, endSeconds: 60 * daySeconds, groupBy: ['user', 'upstream'] };
    const refused = { name: 'UsageRefusedError', code: 'grouping_too_wide', message: /at most 31 days; ask for a shorter span/ };
    await assert.rejects(queryUsage(engine().store(), question, 0), refused);
    await assert.rejects(queryUsage(engine().store(), { ...question, groupBy: ['upstream'], scope: ['alice'] }, 0), refused);
    await assert.rejects(queryUsage(engine().store(), { ...question, granularity: 'minute', groupBy: [] }, 0), {
      code: 'too_many_buckets',
    });
    await assert.rejects(queryUsage(engine().store(), { ...question, endSeconds: 0 }, 0), { code: 'invalid_range' });
  });
}
