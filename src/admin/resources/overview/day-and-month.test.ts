import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { addUsage, noUsage } from '../../../billing/usage/usage-question.ts';
import { beginOfToday, sumMonthBefore, sumYesterday } from './day-and-month.ts';

const daySeconds = 86_400;

test('month and yesterday are the sums of their calls at any time of a day, also of one with 23 or 25 hours', async () => {
  const moments = fc.array(fc.integer({ min: 0, max: 40 * daySeconds }), { maxLength: 40 });
  const run = async (calls: readonly number[], dayNumber: number, second: number): Promise<void> => {
    const direct = (from: number, until: number) =>
      calls.filter((at) => at >= from && at < until).reduce((sum) => addUsage(sum, { ...noUsage, calls: 1, amountNanoUsd: 7n }), noUsage);
    const [month, day] = [daySeconds, dayNumber * daySeconds];
    const now = day + second;
    const asked: number[] = [];
    const sum = async (from: number, until: number) => {
      assert.ok(from < until, 'a question has a span');
      asked.push(until - from);
      return direct(from, until);
    };
    const spans = { now, day, month, sum };
    const begin = beginOfToday(spans);
    assert.deepEqual(addUsage(await sumMonthBefore(spans), direct(begin, now)), direct(Math.min(month, begin), now));
    asked.length = 0;
    assert.deepEqual(await sumYesterday(spans), direct(day - daySeconds, Math.max(day - daySeconds + 1, now - daySeconds)));
    // Whole days are packed; of the others at most half a day is read.
    const read = asked.filter((seconds) => seconds !== daySeconds).reduce((total, seconds) => total + seconds, 0);
    assert.ok(second > daySeconds || read <= daySeconds / 2, `${read} s`);
  };
  await fc.assert(fc.asyncProperty(moments, fc.integer({ min: 1, max: 31 }), fc.integer({ min: 0, max: daySeconds + 3600 }), run), {
    examples: [[[], 1, 0]],
  });
});
