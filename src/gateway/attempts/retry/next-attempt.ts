import { alwaysHealthy, type Availability, type HealthQuery } from '../health/health.ts';
import { subjectOf, type Target } from '../routing/target.ts';
import type { AttemptServices, GatewaySettings } from '../services.ts';
import type { RetryGrant } from './retry-budget.ts';
import { isWithinReach, namedWaitMsMax, type RetryDecision } from './retry-policy.ts';

/** The health of a target, as a call after a failed attempt sees it. */
export type TargetSnapshot = {
  readonly availability: Availability;
  /** Whether a further attempt of the call may succeed there. */
  readonly isWorthRetry: boolean;
};

/** Reads the health of targets for one call. Every target is healthy if the operator ignores failures. */
export function snapshotHealth(
  { health, clock }: Pick<AttemptServices, 'health' | 'clock'>,
  { retries }: Pick<GatewaySettings, 'retries'>,
  { caller }: Pick<HealthQuery, 'caller'>,
): (target: Target) => TargetSnapshot {
  const nowMs = clock.monotonicMs();
  const heeded = retries.avoidFailing ? health : alwaysHealthy;
  return (target) => {
    const state = heeded.of(subjectOf(target));
    return { availability: state.availability(nowMs, caller), isWorthRetry: state.isWorthRetry?.(caller) ?? true };
  };
}

/** The target of a further attempt, and the wait before it. */
export type NextAttempt = { readonly target: Target; readonly waitMs: number };

/** The failed target, and the decision about it. */
export type JudgedFailure = { readonly failed: Target; readonly decision: Extract<RetryDecision, { retry: true }> };

/** A call that has already met one failing target probes another only if there is no better one. */
const nextRanks = { healthy: 0, suspect: 2, probe: 4 } as const;

/** The best of these untried targets. Undefined if none is within reach and usable. */
export function chooseOther(
  untried: readonly Target[],
  { failed, decision: { reach, verdict, waitMs } }: JudgedFailure,
  see: (target: Target) => TargetSnapshot,
): NextAttempt | undefined {
  let best: NextAttempt | undefined;
  let bestRank = Infinity;
  for (const target of untried) {
    if (!isWithinReach(reach, subjectOf(failed), subjectOf(target))) continue;
    const { availability, isWorthRetry } = see(target);
    if (!availability.usable || !isWorthRetry) continue;
    // After a failure, another credential of the same upstream is likely to fail as well.
    const isSame = verdict.type === 'failed' && target.upstream.id === failed.upstream.id;
    const rank = nextRanks[availability.state] + (isSame ? 1 : 0);
    if (rank < bestRank) {
      best = { target, waitMs: availability.state === 'healthy' ? 0 : waitMs };
      bestRank = rank;
    }
  }
  return best;
}

/** The best untried target; otherwise, if that can help, the failed one again. */
export function chooseNext(
  untried: readonly Target[],
  failure: JudgedFailure,
  see: (target: Target) => TargetSnapshot,
): NextAttempt | undefined {
  const best = chooseOther(untried, failure, see);
  const { failed, decision } = failure;
  if (best !== undefined || decision.reach !== 'any-target') return best;
  const { availability, isWorthRetry } = see(failed);
  if (!isWorthRetry) return undefined;
  if (availability.usable) return { target: failed, waitMs: decision.waitMs };
  // A rate-limited target accepts calls again after a time, and this call can wait for it.
  if (availability.reason !== 'rate-limited' || availability.againInMs > namedWaitMsMax) return undefined;
  return { target: failed, waitMs: Math.max(decision.waitMs, availability.againInMs) };
}

/** The grant of a retry at another target: it counts only by the budget that it uses. */
export const freeGrant: RetryGrant = { release: () => {} };

/**
 * Takes the next attempt from the budget of its upstream. Undefined if the budget is used up: the call ends with its
 * failure.
 */
export function takeBudget(
  { retryBudget, deadlines }: Pick<AttemptServices, 'retryBudget' | 'deadlines'>,
  { failed, decision: { cost } }: JudgedFailure,
  { target, waitMs }: NextAttempt,
): RetryGrant | undefined {
  const { id } = target.upstream;
  if (waitMs > 0 || id === failed.upstream.id) return retryBudget.take(id, cost, deadlines.size());
  return retryBudget.takeFailover(id, cost) ? freeGrant : undefined;
}
