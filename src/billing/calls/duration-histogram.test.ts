import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { addDuration, addEncoded, emptyHistogram, encodeHistogram, percentileOf } from './duration-histogram.ts';

const durations = fc.array(fc.integer({ min: 10, max: 900_000 }), { minLength: 1, maxLength: 200 });

function histogramOf(all: readonly number[]) {
  const histogram = emptyHistogram();
  for (const ms of all) addDuration(histogram, ms);
  return histogram;
}

test('a percentile is within a class of the true one', () => {
  fc.assert(
    fc.property(durations, fc.constantFrom(0.5, 0.95, 0.99), (all, share) => {
      const sorted = all.toSorted((one, other) => one - other);
      const exact = sorted[Math.ceil(share * sorted.length) - 1] ?? assert.fail();
      const read = percentileOf(histogramOf(all), share) ?? assert.fail();
      assert.ok(read >= exact / 1.29 - 1 && read <= exact * 1.29 + 1, `${read} is not about ${exact}`);
    }),
  );
});

test('histograms that were encoded and added up equal the histogram of all durations', () => {
  fc.assert(
    fc.property(durations, durations, (one, other) => {
      const sum = emptyHistogram();
      for (const part of [one, other]) addEncoded(sum, encodeHistogram(histogramOf(part)));
      assert.deepEqual(sum, histogramOf([...one, ...other]));
    }),
  );
});

test('nothing has no percentile, and any duration is in a class', () => {
  assert.equal(percentileOf(emptyHistogram(), 0.5), undefined);
  assert.equal(encodeHistogram(emptyHistogram()).length, 0);
  for (const ms of [0, 1, 1e12, Number.MAX_SAFE_INTEGER]) assert.ok(percentileOf(histogramOf([ms]), 0.5) !== undefined);
});
