import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { coverSpans } from './plan-packs.ts';

test('packs and gaps cover each span exactly once, and a pack is used only inside one span', () => {
  const scenario = fc.record({
    cuts: fc.uniqueArray(fc.nat(60), { minLength: 2, maxLength: 8 }),
    packs: fc.uniqueArray(fc.nat(60), { maxLength: 20 }),
    length: fc.integer({ min: 1, max: 5 }),
  });
  fc.assert(
    fc.property(scenario, ({ cuts, packs, length }) => {
      const bounds = cuts.toSorted((one, other) => one - other);
      const spans = bounds.slice(1).map((untilMs, position) => ({ position, fromMs: bounds[position] ?? 0, untilMs }));
      const apart = packs.filter((at) => at % length === 0).map((at) => ({ fromMs: at, untilMs: at + length, number: at + 1 }));
      const { taken, gaps } = coverSpans(spans, apart);
      const covered = spans.map(({ position }) =>
        [...taken, ...gaps]
          .filter((part) => part.position === position)
          .flatMap(({ fromMs, untilMs }) => Array.from({ length: untilMs - fromMs }, (_, at) => fromMs + at))
          .toSorted((one, other) => one - other),
      );
      assert.deepEqual(
        covered,
        spans.map(({ fromMs, untilMs }) => Array.from({ length: untilMs - fromMs }, (_, at) => fromMs + at)),
      );
      const usable = apart.filter((pack) => spans.some((span) => span.fromMs <= pack.fromMs && pack.untilMs <= span.untilMs));
      assert.deepEqual(
        taken.map(({ number }) => number).toSorted((one, other) => one - other),
        usable.map(({ number }) => number).toSorted((one, other) => one - other),
      );
    }),
  );
});
