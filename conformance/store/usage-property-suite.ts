import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import type { UserScope } from '../../src/billing/calls/call-facts-store.ts';
import { isBilled } from '../../src/billing/ledger/call-entry.ts';
import { buildReceipt } from '../../src/billing/receipts/build-receipt.ts';
import { createStatistics } from '../../src/billing/statistics/statistics.ts';
import { queryUsage } from '../../src/billing/usage/query-usage.ts';
import type { UsageLine, UsageQuestion } from '../../src/billing/usage/usage-question.ts';
import type { UsageDimension } from '../../src/billing/usage/usage-store.ts';
import type { Store } from '../../src/store/store.ts';
import { usualOrLong } from '../support/scale.ts';
import { followAll } from './call-facts-suite.ts';
import { callEntries } from './call-entries.ts';
import type { StoreUnderTest } from './store-under-test.ts';
import { daySeconds, plainQuestion, valuesOf } from './usage-questions.ts';

const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kathmandu', 'Australia/Lord_Howe', 'Asia/Shanghai'];
const dimensions: readonly UsageDimension[] = [
  ...(['user', 'key', 'model', 'upstream', 'upstreamModel', 'interface', 'end', 'team'] as const),
  ...(['tag:project', 'tag:env', 'tag:never'] as const),
];

const cellsOf = ({ total, buckets }: UsageLine) =>
  [total, ...buckets].map((sums) => [sums.amountNanoUsd, sums.calls, sums.tokensIn, sums.tokensOut, sums.useTimeMs, sums.failed]);

/**
 * A part of the contract for questions about usage: any question about any calls.
 * @param nextStartMs the first moment of 400 days of which no call is booked yet
 */
export function usagePropertySuite(engine: () => StoreUnderTest, nextStartMs: () => number): void {
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
    let run = 0;
    const handles = [engine().store(), await engine().openAnother()] as const;
    // A day of another run may be packed too; those of this run are the newest.
    const packDays = async (store: Store, nowMs: number): Promise<void> => {
      for (let days = 0; days < 12; days += 1) if ((await store.packUsageDay(nowMs)) === 'done') break;
      for (let steps = 0; steps < 400; steps += 1) if ((await store.packCalls(nowMs)) === 'done') break;
    };
    await fc.assert(
      fc.asyncProperty(scenario, async ({ entries: drawn, cut, zone, booksZone, packing, ...asked }) => {
        run += 1;
        const shiftMs = nextStartMs();
        const entries = drawn.map((entry) => ({ ...entry, callId: `${entry.callId}-${run}`, acceptedAtMs: entry.acceptedAtMs + shiftMs }));
        const [store, other] = run % 2 === 0 ? handles : [handles[1], handles[0]];
        const startSeconds = Math.floor(shiftMs / 1000) + cut[0];
        const span = { startSeconds, endSeconds: startSeconds + cut[1] };
        const question = { ...plainQuestion, ...asked, ...span, timeZone: zone };
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
      { numRuns: usualOrLong(5, 20) },
    );
  });
}
