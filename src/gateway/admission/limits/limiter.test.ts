import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import fc from 'fast-check';

import type { RateLimits } from '../../../accounts/access-limits.ts';
import { createLimiter, type LimitedSubject, type LimitRefusal, type Limiter, type Reservation } from './limiter.ts';
import { windowMs } from './usage-window.ts';

function setUp() {
  let nowMs = 5;
  const limiter = createLimiter({ clock: { monotonicMs: () => nowMs } });
  return { limiter, now: () => nowMs, advance: (ms: number) => void (nowMs += ms) };
}

const subject = (limits: RateLimits, id = 'a', scope: LimitedSubject['scope'] = 'key'): LimitedSubject => ({ scope, id, limits });

function take(limiter: Limiter, subjects: readonly LimitedSubject[], tokens = 1): Reservation {
  const taken = limiter.reserve(subjects, tokens);
  assert.ok(taken.admitted, JSON.stringify(taken));
  return taken;
}

function refuse(limiter: Limiter, subjects: readonly LimitedSubject[], tokens = 1): LimitRefusal {
  const taken = limiter.reserve(subjects, tokens);
  assert.ok(!taken.admitted);
  return taken;
}

test('tokens that an upstream invents are forgotten with their minute, without a rest', () => {
  const { limiter, advance } = setUp();
  const limited = [subject({ tokensPerMinute: 100 })];
  const calls = Array.from({ length: 9 }, () => take(limiter, limited, 3));
  for (const [number, call] of calls.entries()) {
    advance(1);
    call.settle(Number.MAX_SAFE_INTEGER - number);
  }
  advance(windowMs);
  assert.equal(limiter.use(limited)[0]?.tokens, 0);
  take(limiter, limited, 100);
});

describe('requests per minute are limited', () => {
  const two = [subject({ requestsPerMinute: 2 })];

  test('the wait is exact: a millisecond earlier a call is refused, then it is admitted', () => {
    const { limiter, advance } = setUp();
    take(limiter, two).finish();
    advance(10_000);
    take(limiter, two).finish();
    advance(5000);
    const { waitMs, of, limit, scope } = refuse(limiter, two);
    assert.deepEqual([waitMs, of, limit, scope], [45_000, 'requests', 2, 'key']);
    advance(waitMs - 1);
    assert.equal(refuse(limiter, two).waitMs, 1);
    advance(1);
    take(limiter, two);
  });

  test('a refused call uses nothing, however often it is retried', () => {
    const { limiter, advance } = setUp();
    take(limiter, two);
    take(limiter, two);
    for (let tries = 0; tries < 1000; tries += 1) refuse(limiter, two);
    advance(windowMs);
    take(limiter, two);
    take(limiter, two);
  });

  test('a call that is not made releases everything, and a failed one still counts', () => {
    const { limiter } = setUp();
    take(limiter, two).release();
    take(limiter, two).settle(0);
    take(limiter, two);
    refuse(limiter, two);
  });

  test('a lowered or raised limit applies at once, to earlier use as well', () => {
    const { limiter } = setUp();
    for (let calls = 0; calls < 5; calls += 1) take(limiter, [subject({ requestsPerMinute: 9 })]);
    refuse(limiter, [subject({ requestsPerMinute: 3 })]);
    take(limiter, [subject({ requestsPerMinute: 6 })]);
  });
});

describe('tokens per minute are limited', () => {
  const hundred = [subject({ tokensPerMinute: 100 })];

  test('the estimate is reserved, and the unused part is released at once', () => {
    const { limiter } = setUp();
    const first = take(limiter, hundred, 80);
    assert.equal(refuse(limiter, hundred, 21).of, 'tokens');
    first.settle(30);
    take(limiter, hundred, 70);
    refuse(limiter, hundred, 1);
  });

  test('use beyond the estimate counts from the time when it is known, also if the call outlasted the window', () => {
    const { limiter, advance } = setUp();
    const first = take(limiter, hundred, 10);
    advance(5 * windowMs);
    first.settle(110);
    assert.equal(refuse(limiter, hundred, 1).waitMs, windowMs);
    advance(windowMs);
    take(limiter, hundred, 100);
  });

  test('the wait lasts until enough tokens are free', () => {
    const { limiter, advance } = setUp();
    take(limiter, hundred, 40);
    advance(1000);
    take(limiter, hundred, 60);
    assert.equal(refuse(limiter, hundred, 40).waitMs, windowMs - 1000);
    assert.equal(refuse(limiter, hundred, 41).waitMs, windowMs);
  });

  test('a call larger than the limit never fits, and no time is named', () => {
    const { limiter } = setUp();
    assert.equal(refuse(limiter, hundred, 101).waitMs, Infinity);
    take(limiter, hundred, 100);
  });
});

describe('concurrency is limited', () => {
  const one = [subject({ concurrency: 1 })];

  for (const end of ['settle', 'release', 'finish'] as const) {
    test(`a slot is free again after ${end}, once however often a call ends`, () => {
      const { limiter } = setUp();
      const first = take(limiter, one);
      assert.deepEqual([refuse(limiter, one).of, refuse(limiter, one).waitMs], ['concurrency', 1000]);
      for (let ends = 0; ends < 3; ends += 1) first[end](1);
      first.settle(5);
      first.finish();
      take(limiter, one);
      refuse(limiter, one);
    });
  }

  test('a call may last for any time: its slot is not forgotten', () => {
    const { limiter, advance } = setUp();
    take(limiter, one);
    for (let minutes = 0; minutes < 20; minutes += 1) {
      advance(windowMs);
      refuse(limiter, one);
    }
  });
});

describe('several limits may apply', () => {
  test('they are taken together or not at all, and the longest wait is reported', () => {
    const { limiter, advance } = setUp();
    const user = subject({ requestsPerMinute: 1 }, 'u', 'user');
    const key = subject({ requestsPerMinute: 5, concurrency: 5 });
    take(limiter, [key, user]).finish();
    advance(7000);
    for (let tries = 0; tries < 10; tries += 1) {
      const { scope, waitMs } = refuse(limiter, [key, user]);
      assert.deepEqual([scope, waitMs], ['user', windowMs - 7000]);
    }
    for (let calls = 0; calls < 4; calls += 1) take(limiter, [key]);
    assert.equal(refuse(limiter, [key]).of, 'requests');
  });

  test('a key, a user and a model may share an id', () => {
    const { limiter } = setUp();
    for (const scope of ['key', 'user', 'model'] as const) take(limiter, [subject({ requestsPerMinute: 1 }, 'same', scope)]);
  });

  test('the tightest is shown, with the remainder after this call and the time until all is free', () => {
    const { limiter, advance } = setUp();
    const both = [subject({ requestsPerMinute: 10, tokensPerMinute: 50 }), subject({ requestsPerMinute: 3 }, 'u', 'user')];
    take(limiter, both, 20);
    advance(15_000);
    const { state } = take(limiter, both, 20);
    assert.deepEqual(state, {
      requests: { limit: 3, remaining: 1, resetMs: windowMs },
      tokens: { limit: 50, remaining: 10, resetMs: windowMs },
    });
    advance(5000);
    assert.deepEqual(refuse(limiter, both, 20).state.tokens, { limit: 50, remaining: 10, resetMs: windowMs - 5000 });
  });
});

test('the use of owners is what counts now, and asking for it changes nothing', () => {
  const { limiter, advance } = setUp();
  const limited = subject({ requestsPerMinute: 9, tokensPerMinute: 900, concurrency: 9 });
  const owner = { scope: 'key', id: 'a' } as const;
  take(limiter, [limited], 100).settle(30);
  advance(20_000);
  take(limiter, [limited], 50);
  assert.deepEqual(limiter.use([owner, { scope: 'user', id: 'a' }]), [
    { requests: 2, tokens: 80, concurrency: 1, requestsFreeInMs: windowMs, tokensFreeInMs: windowMs },
    { requests: 0, tokens: 0, concurrency: 0 },
  ]);
  advance(windowMs - 5000);
  assert.deepEqual(limiter.use([owner]), [{ requests: 1, tokens: 50, concurrency: 1, requestsFreeInMs: 5000, tokensFreeInMs: 5000 }]);
  advance(5000);
  assert.deepEqual(limiter.use([owner]), [{ requests: 0, tokens: 0, concurrency: 1 }]);
  assert.equal(limiter.size(), 1);
});

test('a subject without use for a minute is forgotten as others call; a running call is not', () => {
  const { limiter, advance } = setUp();
  const running = take(limiter, [subject({ concurrency: 1 }, 'running')]);
  for (let id = 0; id < 10_000; id += 1) take(limiter, [subject({ requestsPerMinute: 9 }, `k${id}`)]).settle(1);
  assert.equal(limiter.size(), 10_001);
  advance(windowMs);
  for (let calls = 0; calls < 6000; calls += 1) {
    take(limiter, [subject({ requestsPerMinute: 1_000_000 }, 'busy')]).settle(1);
  }
  assert.equal(limiter.size(), 2);
  refuse(limiter, [subject({ concurrency: 1 }, 'running')]);
  running.finish();
});

test('a million calls within a minute need no more memory than a minute has milliseconds', () => {
  const { limiter, advance } = setUp();
  const heavy = [subject({ requestsPerMinute: 1_000_000 })];
  let admitted = 0;
  for (let tries = 0; tries < 600_000; tries += 1) {
    if (tries % 100 === 0) advance(1);
    if (limiter.reserve(heavy, 1).admitted) admitted += 1;
  }
  assert.equal(admitted, 600_000);
  assert.equal(limiter.size(), 1);
});

/** The events: calls of some of the subjects, ends of calls, and time. */
const steps = fc.array(
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({ type: fc.constant('call' as const), subjects: fc.subarray([0, 1, 2], { minLength: 1 }), tokens: fc.nat(60) }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        type: fc.constant('end' as const),
        which: fc.nat(1000),
        how: fc.constantFrom('settle' as const, 'settle' as const, 'release' as const, 'finish' as const),
        tokens: fc.nat(120),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        type: fc.constant('wait' as const),
        ms: fc.oneof(fc.nat(3), fc.nat(20_000), fc.constantFrom(59_999, 60_000)),
      }),
    },
  ),
  { minLength: 20, maxLength: 150 },
);
const limitsOf = fc.record(
  {
    requestsPerMinute: fc.integer({ min: 1, max: 8 }),
    tokensPerMinute: fc.integer({ min: 1, max: 200 }),
    concurrency: fc.integer({ min: 1, max: 4 }),
  },
  { requiredKeys: [] },
);

/** The use of one subject, computed in the slow and obvious way. */
type Use = { readonly atMs: number; requests: number; tokens: number };
type Ledger = { readonly uses: Use[]; running: number };

/** Whether a call fits, by the whole rule and without optimisations. */
function fits({ uses, running }: Ledger, limits: RateLimits, tokens: number, nowMs: number): boolean {
  const counting = uses.filter(({ atMs }) => atMs > nowMs - windowMs);
  const sum = (of: 'requests' | 'tokens'): number => counting.reduce((total, use) => total + use[of], 0);
  return (
    sum('requests') + 1 <= (limits.requestsPerMinute ?? Infinity) &&
    sum('tokens') + tokens <= (limits.tokensPerMinute ?? Infinity) &&
    running + 1 <= (limits.concurrency ?? Infinity)
  );
}

test('in any order of calls, ends and times a call is admitted exactly when every limit allows it', () => {
  fc.assert(
    fc.property(steps, fc.tuple(limitsOf, limitsOf, limitsOf), (sequence, limits) => {
      const { limiter, now, advance } = setUp();
      const subjects = limits.map((each, index) => subject(each, `s${index}`, index === 2 ? 'model' : 'key'));
      const ledgers: Ledger[] = limits.map(() => ({ uses: [], running: 0 }));
      const open: { readonly taken: Reservation; readonly uses: readonly (readonly [Ledger, Use])[]; readonly tokens: number }[] = [];
      for (const step of sequence) {
        if (step.type === 'wait') advance(step.ms);
        else if (step.type === 'call') {
          const concerned = step.subjects.flatMap((index) => ledgers[index] ?? []);
          const expected = step.subjects.every((index) => fits(ledgers[index] ?? assert.fail(), limits[index] ?? {}, step.tokens, now()));
          const taken = limiter.reserve(
            step.subjects.flatMap((index) => subjects[index] ?? []),
            step.tokens,
          );
          assert.equal(taken.admitted, expected);
          if (!taken.admitted) continue;
          const uses = concerned.map((ledger) => {
            const use = { atMs: now(), requests: 1, tokens: step.tokens };
            ledger.uses.push(use);
            ledger.running += 1;
            return [ledger, use] as const;
          });
          open.push({ taken, uses, tokens: step.tokens });
        } else {
          const [ended] = open.splice(step.which % Math.max(1, open.length), 1);
          if (ended === undefined) continue;
          ended.taken[step.how](step.tokens);
          for (const [ledger, use] of ended.uses) {
            ledger.running -= 1;
            if (step.how === 'release') Object.assign(use, { requests: 0, tokens: 0 });
            if (step.how !== 'settle') continue;
            use.tokens = Math.min(use.tokens, step.tokens);
            ledger.uses.push({ atMs: now(), requests: 0, tokens: Math.max(0, step.tokens - ended.tokens) });
          }
        }
      }
    }),
    { numRuns: 1000 },
  );
});

test('with times between milliseconds no minute exceeds its limit, and no needless refusal lasts a millisecond', () => {
  const gaps = fc.array(fc.double({ min: 0, max: 400, noNaN: true }), { minLength: 100, maxLength: 800 });
  fc.assert(
    fc.property(gaps, fc.integer({ min: 1, max: 30 }), (sequence, limit) => {
      const { limiter, now, advance } = setUp();
      const one = [subject({ requestsPerMinute: limit })];
      const admitted: number[] = [];
      for (const gap of sequence) {
        advance(gap < 200 ? gap / 1000 : gap * 40);
        const { admitted: isAdmitted } = limiter.reserve(one, 1);
        const within = (ms: number): number => admitted.filter((atMs) => atMs > now() - ms).length;
        if (isAdmitted) admitted.push(now());
        else assert.ok(within(windowMs + 1) >= limit, 'refused without need');
        assert.ok(within(windowMs) <= limit, 'over the limit');
      }
    }),
    { numRuns: 300 },
  );
});

test('a call that waits as long as reported is admitted, and not a millisecond sooner', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(15_000), fc.nat(90)), { minLength: 5, maxLength: 60 }),
      fc.integer({ min: 1, max: 5 }),
      fc.integer({ min: 90, max: 200 }),
      (calls, requestsPerMinute, tokensPerMinute) => {
        const { limiter, advance } = setUp();
        const one = [subject({ requestsPerMinute, tokensPerMinute })];
        for (const [gap, tokens] of calls) {
          advance(gap);
          const taken = limiter.reserve(one, tokens);
          if (taken.admitted) {
            taken.finish();
            continue;
          }
          advance(taken.waitMs - 1);
          assert.equal(limiter.reserve(one, tokens).admitted, false);
          advance(1);
          take(limiter, one, tokens).finish();
        }
      },
    ),
  );
});

test('reported times are whole milliseconds, at any time of a long run', () => {
  for (const startMs of [0.1, 1234.5678901, 86_400_000.123456, 8_640_000_000.987654]) {
    const limiter = createLimiter({ clock: { monotonicMs: () => startMs } });
    assert.equal(take(limiter, [subject({ requestsPerMinute: 1 })]).state.requests?.resetMs, windowMs);
  }
});
