import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import fc from 'fast-check';

import { answered, badKey, badModel, failed, limited, setUpHealth, unknown } from './testing/fake-health.ts';
import type { AttemptTicket, AttemptVerdict } from './health.ts';

const verdicts: readonly AttemptVerdict[] = [
  answered,
  failed,
  limited,
  { type: 'rate-limited', retryAfterMs: 45_000 },
  badKey,
  badModel,
  unknown,
];
const models = ['a', 'b'] as const;
const model = fc.constantFrom(...models);

/** The possible events. A `call` is sent if the target is usable, a `last-resort` if it is not. */
type Heard =
  | { readonly type: 'head'; readonly which: number }
  | { readonly type: 'content'; readonly which: number }
  | { readonly type: 'end'; readonly which: number; readonly verdict: AttemptVerdict };
type Happening =
  | Heard
  | { readonly type: 'call'; readonly model: string }
  | { readonly type: 'last-resort'; readonly model: string }
  | { readonly type: 'wait'; readonly ms: number };

const verdict = fc.oneof({ weight: 3, arbitrary: fc.constant(failed) }, { weight: 3, arbitrary: fc.constantFrom(...verdicts) });
const happening: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ type: fc.constant('call' as const), model }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('last-resort' as const), model }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('head' as const), which: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('content' as const), which: fc.nat() }) },
  { weight: 6, arbitrary: fc.record({ type: fc.constant('end' as const), which: fc.nat(), verdict }) },
  // Nothing, a moment, the time of a probe, and a machine that slept.
  { weight: 3, arbitrary: fc.record({ type: fc.constant('wait' as const), ms: fc.constantFrom(0, 1, 700, 5000, 31_000, 3_600_000) }) },
);

type Sent = { readonly model: string; readonly ticket: AttemptTicket; readonly sentMs: number; readonly isOrdinaryProbe: boolean };

/** Plays the events on two models of one credential, and checks after each what must be true. */
function play(events: readonly Happening[], chance: number): void {
  const { health, of, clock, advance, see } = setUpHealth({}, () => chance);
  const open: Sent[] = [];
  const begin = (name: string, isOrdinary: boolean): void => {
    const ticket = of(name).begin();
    open.push({ model: name, ticket, sentMs: clock.ms, isOrdinaryProbe: isOrdinary && ticket.isProbe });
  };
  const call = (name: string, isLastResort: boolean): void => {
    const { usable } = of(name).availability(clock.ms);
    if (isLastResort !== usable) begin(name, !isLastResort);
  };
  const hear = (event: Heard): void => {
    const at = event.which % Math.max(1, open.length);
    const ticket = open[at]?.ticket;
    if (event.type === 'head') return ticket?.headArrived();
    if (event.type === 'content') return ticket?.contentArrived();
    open.splice(at, 1);
    return ticket?.end(event.verdict);
  };
  const check = (name: string): void => {
    const seen = of(name).availability(clock.ms);
    assert.equal(of(name).inFlight(), open.filter((sent) => sent.model === name).length);
    if (!seen.usable) assert.ok(seen.againInMs > 0 && seen.againInMs <= (seen.reason === 'rate-limited' ? 60_000 : 36_000));
    // Another attempt may have ended and begun the outage again meanwhile; its first duration is then at least this
    // long.
    const probes = open.filter((sent) => sent.model === name && sent.isOrdinaryProbe && clock.ms - sent.sentMs < 4_000);
    assert.ok(probes.length <= 1, 'one probe at a time');
  };
  for (const event of events) {
    if (event.type === 'wait') advance(event.ms);
    else if (event.type === 'call' || event.type === 'last-resort') call(event.model, event.type === 'last-resort');
    else hear(event);
    for (const name of models) check(name);
    assert.ok(health.report().every(({ againInMs }) => againInMs === undefined || againInMs >= 0));
  }
  for (const { ticket } of open) ticket.end(unknown);
  advance(60_000);
  for (const name of models) assert.ok(of(name).availability(clock.ms).usable, see(of(name)));
}

test('at any order of events and times there is one probe at a time, no outage beyond 36 s, no lost count, and always a recovery', () => {
  fc.assert(
    fc.property(
      fc.array(happening, { maxLength: 300, size: 'max' }),
      fc.double({ min: 0, max: 0.999_999, noNaN: true }),
      (events, chance) => play(events, chance),
    ),
    { numRuns: 300 },
  );
});

test('a target whose calls are answered, limited or abandoned by clients is never out, in any order', () => {
  const good = fc.constantFrom(answered, unknown, limited);
  fc.assert(
    fc.property(fc.array(fc.tuple(good, fc.nat(20_000), fc.boolean()), { maxLength: 200, size: 'max' }), (calls) => {
      const { of, health, advance } = setUpHealth();
      const open: (readonly [AttemptTicket, AttemptVerdict])[] = [];
      for (const [verdict, ms, waits] of calls) {
        open.push([of().begin(), verdict]);
        advance(ms);
        if (!waits) for (const [ticket, said] of open.splice(0)) ticket.end(said);
        assert.ok(health.report().every(({ state }) => state !== 'failing' && state !== 'rejected'));
      }
    }),
  );
});

/**
 * Ten calls per second to a target that is dead for a time. With `hangs` they have no result, otherwise they fail at
 * once.
 */
function live(options: { readonly deadMs: number; readonly hangs: boolean; readonly isOnly: boolean; readonly chance: number }) {
  const { deadMs, hangs, isOnly, chance } = options;
  const { of, clock, advance, attempt } = setUpHealth({}, () => chance);
  for (let times = 0; times < 20; times += 1) attempt(of(), answered);
  const startMs = clock.ms;
  let sent = 0;
  let backMs: number | undefined;
  while (clock.ms - startMs < deadMs + 60_000 && backMs === undefined) {
    const isDead = clock.ms - startMs < deadMs;
    const seen = of().availability(clock.ms);
    // Others are preferred to a suspect target if there are others.
    const isSent = isOnly || (seen.usable && seen.state !== 'suspect');
    if (isSent) {
      const ticket = of().begin();
      if (isDead) sent += 1;
      if (!isDead) {
        ticket.headArrived();
        ticket.end(answered);
        backMs = clock.ms - startMs - deadMs;
      } else if (!hangs) ticket.end(failed);
    }
    advance(100);
  }
  return { sent, backMs: backMs ?? Infinity };
}

describe('an outage of any length ends soon after the recovery', () => {
  const lengths = fc.record({
    deadMs: fc.integer({ min: 1000, max: 3_600_000 }),
    chance: fc.double({ min: 0, max: 0.999_999, noNaN: true }),
  });

  test('one of several targets is used again within 37 s, and few calls meet the outage', () => {
    fc.assert(
      fc.property(lengths, ({ deadMs, chance }) => {
        const { sent, backMs } = live({ deadMs, chance, hangs: false, isOnly: false });
        assert.ok(backMs <= 37_000, `${backMs}`);
        assert.ok(sent <= 5 + 4 + deadMs / 24_000, `${sent} in ${deadMs} ms`);
      }),
      { numRuns: 50 },
    );
  });

  test('one of several that swallows calls is used again within 10 s, and few calls meet it', () => {
    fc.assert(
      fc.property(lengths, ({ deadMs, chance }) => {
        const { sent, backMs } = live({ deadMs, chance, hangs: true, isOnly: false });
        assert.ok(backMs <= 10_100, `${backMs}`);
        assert.ok(sent <= 6 + deadMs / 10_000, `${sent} in ${deadMs} ms`);
      }),
      { numRuns: 50 },
    );
  });

  test('the only target is used by the first call after its recovery, because every call is made', () => {
    fc.assert(
      fc.property(lengths, ({ deadMs, chance }) => {
        const { backMs } = live({ deadMs, chance, hangs: false, isOnly: true });
        assert.ok(backMs <= 100, `${backMs}`);
      }),
      { numRuns: 50 },
    );
  });
});
