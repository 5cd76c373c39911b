import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import fc from 'fast-check';

import { seededRandom } from '../../../platform/seeded-random.ts';
import { fakeHealth, fakeTable, fakeTarget, idsOf, inSession, rankFake } from './testing/fake-routing.ts';
import type { ConfiguredModel, RoutingTable } from './routing-table.ts';

const ids = ['a', 'b', 'c', 'd', 'e'] as const;
const tier = (weights: Readonly<Record<string, number>>, balance?: ConfiguredModel['balance']): RoutingTable =>
  fakeTable(
    Object.entries(weights).map(([id, weight]) => fakeTarget(id, { priority: 1, weight })),
    balance === undefined ? {} : { balance },
  );

/** How often each target came first in this number of calls. */
function countFirsts(calls: number, rank: (index: number) => readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (let index = 0; index < calls; index++) {
    const [first = 'none'] = rank(index);
    counts.set(first, (counts.get(first) ?? 0) + 1);
  }
  return counts;
}

/** Pearson's statistic against shares by weight. */
function chiSquare(counts: ReadonlyMap<string, number>, weights: Readonly<Record<string, number>>, calls: number): number {
  const total = Object.values(weights).reduce((sum, weight) => sum + weight, 0);
  return Object.entries(weights).reduce((sum, [id, weight]) => {
    const expected = (calls * weight) / total;
    return sum + ((counts.get(id) ?? 0) - expected) ** 2 / expected;
  }, 0);
}

describe('shares follow the weights', () => {
  const calls = 20_000;
  // 0.1 % of fair draws exceed this with four degrees of freedom; the draws are the same in every run.
  const bound = 18.47;
  for (const weights of [
    { a: 1, b: 1, c: 1, d: 1, e: 1 },
    { a: 10, b: 5, c: 3, d: 2, e: 1 },
    { a: 95, b: 2, c: 1, d: 1, e: 1 },
    { a: 0.5, b: 0.5, c: 1, d: 1, e: 7 },
  ]) {
    test(`conversations follow them, ${JSON.stringify(weights)}`, () => {
      const table = tier(weights);
      const counts = countFirsts(calls, (index) => idsOf(rankFake(table, inSession(`session-${index}`))));
      assert.ok(chiSquare(counts, weights, calls) < bound, JSON.stringify([...counts]));
    });

    test(`single calls follow them, ${JSON.stringify(weights)}`, () => {
      const table = tier(weights, 'random');
      const random = seededRandom(7);
      const counts = countFirsts(calls, () => idsOf(rankFake(table, { random })));
      assert.ok(chiSquare(counts, weights, calls) < bound, JSON.stringify([...counts]));
    });

    test(`the second choice follows them too, ${JSON.stringify(weights)}`, () => {
      const { a: _, ...rest } = weights;
      const table = tier(weights);
      const seconds: string[] = [];
      for (let index = 0; index < calls; index++) {
        const [first, second = 'none'] = idsOf(rankFake(table, inSession(`s${index}`)));
        if (first === 'a') seconds.push(second);
      }
      assert.ok(
        chiSquare(
          countFirsts(seconds.length, (index) => [seconds[index] ?? '']),
          rest,
          seconds.length,
        ) < bound,
      );
    });
  }
});

describe('conversations stay at their target', () => {
  const weight = fc.integer({ min: 1, max: 100 });
  const anyTier = fc.dictionary(fc.constantFrom(...ids), weight, { minKeys: 2, maxKeys: 5 });

  test('the same one goes to the same target, and every target is in the order once', () => {
    fc.assert(
      fc.property(anyTier, fc.string(), (weights, session) => {
        const table = tier(weights);
        const first = idsOf(rankFake(table, inSession(session)));
        assert.deepEqual(idsOf(rankFake(table, inSession(session))), first);
        assert.deepEqual(first.toSorted(), Object.keys(weights).toSorted());
      }),
    );
  });

  test('a failing target loses only its own, each to its next target, and gets them back after its recovery', () => {
    fc.assert(
      fc.property(anyTier, fc.string(), fc.constantFrom(...ids), (weights, session, down) => {
        const table = tier(weights);
        const health = fakeHealth({ [down]: { availability: { usable: false, reason: 'failing', againInMs: 1 } } });
        const before = idsOf(rankFake(table, inSession(session)));
        assert.deepEqual(
          idsOf(rankFake(table, { ...inSession(session), health })),
          before.filter((id) => id !== down),
        );
      }),
    );
  });

  test('adding or removing a target in the configuration moves no others', () => {
    fc.assert(
      fc.property(anyTier, fc.string(), (weights, session) => {
        const order = idsOf(rankFake(tier(weights), inSession(session)));
        const [gone, ...left] = Object.keys(weights).toReversed();
        const fewer = Object.fromEntries(left.map((id) => [id, weights[id] ?? 1]));
        assert.deepEqual(
          idsOf(rankFake(tier(fewer), inSession(session))),
          order.filter((id) => id !== gone),
        );
      }),
    );
  });

  test('a heavier target only gains', () => {
    fc.assert(
      fc.property(anyTier, fc.string(), fc.constantFrom(...ids), (weights, session, heavier) => {
        const before = idsOf(rankFake(tier(weights), inSession(session))).indexOf(heavier);
        const raised = { ...weights, ...(before < 0 ? {} : { [heavier]: 500 }) };
        assert.ok(idsOf(rankFake(tier(raised), inSession(session))).indexOf(heavier) <= before);
      }),
    );
  });
});

describe('the load of conversations is bounded', () => {
  const session = inSession('busy');
  const [first = '', second = '', third = ''] = idsOf(rankFake(tier({ a: 1, b: 1, c: 1 }), session));
  const ranked = (inFlight: Readonly<Record<string, number>>): readonly string[] =>
    idsOf(
      rankFake(tier({ a: 1, b: 1, c: 1 }), {
        ...session,
        health: fakeHealth(Object.fromEntries(Object.entries(inFlight).map(([id, count]) => [id, { inFlight: count }]))),
      }),
    );

  test('a target far above its share is the second choice, until its load falls', () => {
    assert.deepEqual(ranked({ [first]: 6 }), [first, second, third], '6 is at most 1.25 * 2 + 4');
    assert.deepEqual(ranked({ [first]: 7 }), [second, first, third]);
    assert.deepEqual(ranked({ [first]: 30, [second]: 30 }), [third, first, second]);
    assert.deepEqual(ranked({ [first]: 30, [second]: 30, [third]: 30 }), [first, second, third]);
  });

  test('one conversation with a thousand concurrent calls is spread over the tier', () => {
    const weights = { a: 2, b: 1, c: 1 };
    const table = tier(weights);
    const inFlight: Record<string, number> = { a: 0, b: 0, c: 0 };
    for (let calls = 0; calls < 1000; calls++) {
      const states = Object.fromEntries(Object.entries(inFlight).map(([id, count]) => [id, { inFlight: count }]));
      const [chosen = ''] = idsOf(rankFake(table, { ...session, health: fakeHealth(states) }));
      inFlight[chosen] = (inFlight[chosen] ?? 0) + 1;
    }
    for (const [id, weight] of Object.entries(weights))
      assert.ok((inFlight[id] ?? 0) <= (1.25 * 1000 * weight) / 4 + 5, JSON.stringify(inFlight));
  });
});

describe('the least loaded target comes first', () => {
  const table = tier({ a: 3, b: 1, c: 1 }, 'least-loaded');
  const ranked = (a: number, b: number, c: number): readonly string[] =>
    idsOf(rankFake(table, { ...inSession('x'), health: fakeHealth({ a: { inFlight: a }, b: { inFlight: b }, c: { inFlight: c } }) }));

  test('calls go to the target with the fewest running calls for its weight', () => {
    assert.deepEqual(ranked(3, 2, 0), ['c', 'a', 'b']);
    assert.deepEqual(ranked(8, 3, 2), ['c', 'a', 'b']);
    assert.deepEqual(ranked(2, 1, 1)[0], 'a');
  });

  test('equal loads are shared like conversations', () => {
    const counts = countFirsts(10_000, (index) => idsOf(rankFake(table, inSession(`${index}`))));
    assert.ok(chiSquare(counts, { a: 3, b: 1, c: 1 }, 10_000) < 13.82, JSON.stringify([...counts]));
  });
});

test('a tier of one target, or with one left, draws and hashes nothing', () => {
  const table = tier({ a: 1, b: 1 }, 'random');
  const health = fakeHealth({ b: { availability: { usable: false, reason: 'rejected', againInMs: 1 } } });
  assert.deepEqual(idsOf(rankFake(table, { health, random: () => assert.fail('it was drawn') })), ['a']);
});

test('a draw of zero is valid', () => {
  assert.equal(rankFake(tier({ a: 1, b: 1 }, 'random'), { random: () => 0 }).length, 2);
});
