import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { GatewayError } from '../../../inference/gateway-error.ts';
import { seededRandom } from '../../../platform/seeded-random.ts';
import { setUpHealth, subject } from '../health/testing/fake-health.ts';
import type { HealthSubject } from '../health/health.ts';
import { decideRetry, type FailedAttempt, isWithinReach, type RetryReach } from './retry-policy.ts';
import { createRetryBudget, type RetryGrant } from './retry-budget.ts';

/** The ways in which an upstream is dead. A hanging one takes time, and nothing takes time here. */
const deaths: Readonly<Record<string, { readonly error: () => GatewayError; readonly status?: number }>> = {
  'refuses connections': { error: () => new GatewayError('upstream_unreachable', '') },
  'resets connections': { error: () => new GatewayError('upstream_connection_error', '') },
  'answers 500': { error: () => new GatewayError('upstream_error', '', { status: 500 }), status: 500 },
  'answers 401': { error: () => new GatewayError('upstream_credentials_rejected', ''), status: 401 },
  'answers 403': { error: () => new GatewayError('upstream_error', '', { status: 403 }), status: 403 },
  'answers 429': { error: () => new GatewayError('upstream_error', '', { status: 429 }), status: 429 },
};
const instead = { healthy: 1, suspect: 2 } as const;
const lastly = { 'rate-limited': 1, failing: 2, rejected: 3 } as const;

/**
 * A gateway with these targets, best first, on the interfaces of health and retries: a call runs until it succeeds or
 * fails.
 */
function createRoad(targets: readonly HealthSubject[], isDead: (upstreamId: string, nowMs: number) => keyof typeof deaths | undefined) {
  const random = seededRandom(20_261_122);
  const { health, clock } = setUpHealth({}, random);
  const budget = createRetryBudget();
  const rankOf = (target: HealthSubject, isFirst: boolean): number => {
    const seen = health.of(target).availability(clock.ms);
    if (!seen.usable) return Infinity;
    if (seen.state === 'probe') return isFirst ? 0 : Infinity;
    return instead[seen.state];
  };
  const best = (from: readonly HealthSubject[], isFirst: boolean): HealthSubject | undefined => {
    const usable = from.filter((target) => rankOf(target, isFirst) < Infinity);
    return usable.toSorted((one, other) => rankOf(one, isFirst) - rankOf(other, isFirst))[0];
  };
  const lastResort = (): HealthSubject | undefined => {
    const reasonOf = (target: HealthSubject): number => {
      const seen = health.of(target).availability(clock.ms);
      return seen.usable ? 0 : lastly[seen.reason];
    };
    const chosen = targets.toSorted((one, other) => reasonOf(one) - reasonOf(other))[0];
    return chosen;
  };
  const retryTarget = (failed: HealthSubject, reach: RetryReach, tried: readonly HealthSubject[]): HealthSubject | undefined => {
    const within = targets.filter((target) => isWithinReach(reach, failed, target));
    return (
      best(
        within.filter((target) => !tried.includes(target)),
        false,
      ) ?? best(within, false)
    );
  };
  /** @returns whether it succeeded, and its number of attempts */
  const call = (): { readonly isAnswered: boolean; readonly attempts: number } => {
    const tried: HealthSubject[] = [];
    let grant: RetryGrant | undefined;
    let target = best(targets, true) ?? lastResort();
    while (target !== undefined) {
      const ticket = health.of(target).begin();
      tried.push(target);
      const death = deaths[isDead(target.upstreamId, clock.ms) ?? ''];
      if (death?.status !== undefined || death === undefined) ticket.headArrived();
      grant?.release();
      if (death === undefined) {
        ticket.end({ type: 'answered' });
        budget.succeeded(target.upstreamId);
        return { isAnswered: true, attempts: tried.length };
      }
      const failure: FailedAttempt = {
        error: death.error(),
        attempt: tried.length,
        isDelivered: false,
        hasClientLeft: false,
        ...(death.status === undefined ? {} : { upstreamStatus: death.status }),
      };
      const decision = decideRetry(failure, random);
      ticket.end(decision.verdict);
      const next: HealthSubject | undefined = decision.retry ? retryTarget(target, decision.reach, tried) : undefined;
      grant = next === undefined || !decision.retry ? undefined : budget.take(next.upstreamId, decision.cost, 20);
      target = grant === undefined ? undefined : next;
    }
    return { isAnswered: false, attempts: tried.length };
  };
  return { call, clock, see: (target: HealthSubject) => health.of(target).availability(clock.ms) };
}

const first = subject('m', 'c', 'first');
const second = subject('m', 'c', 'second');

for (const death of Object.keys(deaths)) {
  describe(`an upstream that ${death}`, () => {
    test('for a minute, one of two: no client notices, and it is used again within 40 s', () => {
      const { call, clock, see } = createRoad([first, second], (id, nowMs) =>
        id === 'first' && nowMs >= 5000 && nowMs < 65_000 ? death : undefined,
      );
      let failures = 0;
      let attempts = 0;
      while (clock.ms < 65_000) {
        const made = call();
        failures += made.isAnswered ? 0 : 1;
        attempts += made.attempts;
        clock.ms += 10;
      }
      assert.equal(failures, 0);
      assert.ok(attempts <= 6400 * 1.01, `${attempts} attempts`);
      while (clock.ms < 105_000 && !(see(first).usable && call().isAnswered && see(first).usable)) {
        assert.ok(call().isAnswered);
        clock.ms += 10;
      }
      assert.deepEqual(see(first), { usable: true, state: 'healthy' });
    });

    for (const [rate, everyMs] of [
      ['a hundred calls a second', 10],
      ['a call in five seconds', 5000],
    ] as const) {
      test(`while all others fail too, at ${rate}: hardly more attempts than calls`, () => {
        const { call, clock } = createRoad([first, second], () => death);
        let attempts = 0;
        let calls = 0;
        for (; calls < 1000; calls += 1) {
          attempts += call().attempts;
          clock.ms += everyMs;
        }
        assert.ok(attempts <= 1.2 * calls, `${attempts} attempts for ${calls} calls`);
      });
    }
  });
}
