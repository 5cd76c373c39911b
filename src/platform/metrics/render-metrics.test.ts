import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { anyUnit } from '../testing/any-unit.ts';
import { createMetricRegistry } from './metric-registry.ts';
import { readExposition, sumSamples } from './testing/read-exposition.ts';
import { renderMetrics } from './render-metrics.ts';

const text = fc.string({ unit: anyUnit, maxLength: 20 });

test('written metrics can be read again, with any labels', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.tuple(text, text), { maxLength: 20, selector: (labels) => labels.join('\u0000') }), (all) => {
      const registry = createMetricRegistry();
      const counter = registry.counter({ name: 'a_total', help: 'One\nof \\ many', labels: ['x', 'y'] });
      for (const [index, labels] of all.entries()) counter.with(...labels).add(index + 1);
      const samples = readExposition(renderMetrics([registry.snapshot()]));
      assert.deepEqual(
        samples.map(({ labels, value }) => [labels['x'] ?? '', labels['y'] ?? '', value]),
        all.map((labels, index) => [...labels, index + 1]),
      );
    }),
  );
});

test('a histogram counts each value into the first bucket that holds it', () => {
  const registry = createMetricRegistry();
  const histogram = registry.histogram({ name: 'h', help: 'h', bounds: [1, 2.5] }).with();
  for (const value of [0, 1, 1.1, 2.5, 3, Infinity, Number.NaN]) histogram.observe(value);
  assert.equal(
    renderMetrics([registry.snapshot()]),
    '# HELP h h\n# TYPE h histogram\nh_bucket{le="1"} 2\nh_bucket{le="2.5"} 4\nh_bucket{le="+Inf"} 6\nh_sum +Inf\nh_count 6\n',
  );
});

test('several processes appear as one', () => {
  const values = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.nat({ max: 1000 })), { maxLength: 30 });
  fc.assert(
    fc.property(fc.array(values, { minLength: 1, maxLength: 4 }), (processes) => {
      const make = (parts: readonly (readonly (readonly [string, number])[])[]) =>
        parts.map((part) => {
          const registry = createMetricRegistry();
          const counter = registry.counter({ name: 'c_total', help: 'c', labels: ['of'] });
          const histogram = registry.histogram({ name: 'h', help: 'h', labels: ['of'], bounds: [10, 100] });
          for (const [of, value] of part) {
            counter.with(of).add(value);
            histogram.with(of).observe(value);
          }
          // As it is sent between processes.
          return JSON.parse(JSON.stringify(registry.snapshot())) as ReturnType<typeof registry.snapshot>;
        });
      const sorted = (shown: string) =>
        readExposition(shown)
          .map(({ name, labels, value }) => JSON.stringify([name, labels, value]))
          .toSorted();
      assert.deepEqual(sorted(renderMetrics(make(processes))), sorted(renderMetrics(make([processes.flat()]))));
    }),
  );
});

test('the worst delay of several processes is shown', () => {
  const of = (value: number) => {
    const registry = createMetricRegistry();
    registry.collected({ name: 'delay', help: 'd', type: 'gauge', merge: 'max', read: () => [{ labels: [], value }] });
    return registry.snapshot();
  };
  assert.match(renderMetrics([of(1), of(3), of(2)]), /^delay 3$/m);
});

test('amounts of money stay exact', () => {
  const registry = createMetricRegistry();
  const counter = registry.counter({ name: 'usd_total', help: 'u', decimals: 9 }).with();
  for (let index = 0; index < 10; index++) counter.add(100_000_000);
  counter.add(1);
  assert.match(renderMetrics([registry.snapshot()]), /^usd_total 1\.000000001$/m);
});

test('invented names do not fill the memory: further series are counted as other', () => {
  const registry = createMetricRegistry({ seriesMax: 10 });
  const counter = registry.counter({ name: 'a_total', help: 'a', labels: ['model', 'end'] });
  counter.with('other', 'other').add(1);
  for (let index = 0; index < 10_000; index++) counter.with(`model-${index}`, 'finished').add(1);
  const samples = readExposition(renderMetrics([registry.snapshot()]));
  assert.ok(samples.length <= 11, `${samples.length} series`);
  assert.equal(sumSamples(samples, 'a_total'), 10_001);
  assert.equal(sumSamples(samples, 'a_total', { model: 'other' }), 9992);
});

test('a metric without values is not shown, and a name is used once', () => {
  const registry = createMetricRegistry();
  registry.counter({ name: 'a_total', help: 'a', labels: ['x'] });
  assert.equal(renderMetrics([registry.snapshot()]), '');
  assert.throws(() => registry.counter({ name: 'a_total', help: 'a' }), /exists already/);
  assert.throws(() => registry.counter({ name: 'a b', help: 'a' }), /not a valid name/);
  assert.throws(() => registry.counter({ name: 'b_total', help: 'b', labels: ['x'] }).with(), /labels x/);
});
