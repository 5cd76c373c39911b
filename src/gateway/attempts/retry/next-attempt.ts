import type { GatewayError } from '../../../inference/gateway-error.ts';
import type { ReplyHeaders } from '../../../platform/http/reply-head.ts';
import type { AskingCall } from '../health/health.ts';
import { alwaysHealthy, type Availability } from '../health/health.ts';
import { subjectOf, type Target } from '../routing/target.ts';
import type { AttemptServices, GatewaySettings } from '../services.ts';
import { forbidsRetry, parseRetryAfter } from './parse-retry-after.ts';
import type { RetryGrant } from './retry-budget.ts';
import { decideRetry, isWithinReach, namedWaitMsMax, type RetryDecision } from './retry-policy.ts';

/** A target as a call that has failed once sees it. */
export type SeenTarget = {
  readonly availability: Availability;
  /** Whether a second attempt of the call has a chance there. */
  readonly isWorthRetry: boolean;
};

/** What is known of a target, for one call; nothing bad where the operator does not want it heeded. */
export function seeHealth(
  { health, clock }: Pick<AttemptServices, 'health' | 'clock'>,
  { retries }: Pick<GatewaySettings, 'retries'>,
  { caller }: Pick<AskingCall, 'caller'>,
): (target: Target) => SeenTarget {
  const nowMs = clock.monotonicMs();
  const heeded = retries.avoidFailing ? health : alwaysHealthy;
  return (target) => {
    const known = heeded.of(subjectOf(target));
    return { availability: known.availability(nowMs, caller), isWorthRetry: known.isWorthRetry?.(caller) ?? true };
  };
}

/** How an attempt failed, in the words of those who made it. */
export type AttemptFailure = {
  readonly error: GatewayError;
  /** Of the upstream's answer; undefined where it gave none. */
  readonly upstreamStatus: number | undefined;
  /** The code and the message of its error body, where that goes on as it is. */
  readonly upstreamWords?: string | undefined;
  readonly headers: ReplyHeaders | undefined;
  /** Which attempt of the call it was, from 1. */
  readonly attempt: number;
  /** Whether anything of the reply was handed to the client. */
  readonly isDelivered: boolean;
  readonly hasClientLeft: boolean;
};

/** Decides what follows a failed attempt, by what its upstream has said (see decideRetry). */
export function judgeFailure({ clock, random }: Pick<AttemptServices, 'clock' | 'random'>, failure: AttemptFailure): RetryDecision {
  const { upstreamStatus, upstreamWords, headers, ...known } = failure;
  const retryAfterMs = headers === undefined ? undefined : parseRetryAfter(headers, clock.nowMs());
  return decideRetry(
    {
      ...known,
      ...(upstreamStatus === undefined ? {} : { upstreamStatus }),
      ...(upstreamWords === undefined ? {} : { upstreamWords }),
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      ...(headers === undefined ? {} : { isRetryForbidden: forbidsRetry(headers) }),
    },
    random,
  );
}

/** Another target to try, and how long to wait before. */
export type NextAttempt = { readonly target: Target; readonly waitMs: number };

/** The attempt that failed, and what was decided about it. */
export type FailedTarget = { readonly failed: Target; readonly decision: Extract<RetryDecision, { retry: true }> };

/** A call that has met one failing target is no probe for another, as long as there is a better one. */
const nextRanks = { healthy: 0, suspect: 2, probe: 4 } as const;

/** The best of these targets, which were not tried yet. Undefined where none is within reach and usable. */
export function chooseOther(
  untried: readonly Target[],
  { failed, decision: { reach, verdict, waitMs } }: FailedTarget,
  see: (target: Target) => SeenTarget,
): NextAttempt | undefined {
  let best: NextAttempt | undefined;
  let bestRank = Infinity;
  for (const target of untried) {
    if (!isWithinReach(reach, subjectOf(failed), subjectOf(target))) continue;
    const { availability, isWorthRetry } = see(target);
    if (!availability.usable || !isWorthRetry) continue;
    // What failed is likely to fail with another of its credentials too.
    const isSame = verdict.type === 'failed' && target.upstream.id === failed.upstream.id;
    const rank = nextRanks[availability.state] + (isSame ? 1 : 0);
    if (rank < bestRank) {
      best = { target, waitMs: availability.state === 'healthy' ? 0 : waitMs };
      bestRank = rank;
    }
  }
  return best;
}

/** The best of the targets that were not tried yet; else, where that can help, the failed one once more. */
export function chooseNext(
  untried: readonly Target[],
  failure: FailedTarget,
  see: (target: Target) => SeenTarget,
): NextAttempt | undefined {
  const best = chooseOther(untried, failure, see);
  const { failed, decision } = failure;
  if (best !== undefined || decision.reach !== 'any-target') return best;
  const { availability, isWorthRetry } = see(failed);
  if (!isWorthRetry) return undefined;
  if (availability.usable) return { target: failed, waitMs: decision.waitMs };
  // One that wants fewer calls takes them again after a while, which this call has as well as any other.
  if (availability.reason !== 'rate-limited' || availability.againInMs > namedWaitMsMax) return undefined;
  return { target: failed, waitMs: Math.max(decision.waitMs, availability.againInMs) };
}

/** That of an attempt elsewhere, which counts for no more than what it takes of the bucket. */
export const freeGrant: RetryGrant = { release: () => {} };

/** Takes the next attempt out of the budget of its upstream. Undefined where nothing is left: the call ends with the failure that it has. */
export function takeBudget(
  { retryBudget, deadlines }: Pick<AttemptServices, 'retryBudget' | 'deadlines'>,
  { failed, decision: { cost } }: FailedTarget,
  { target, waitMs }: NextAttempt,
): RetryGrant | undefined {
  const { id } = target.upstream;
  if (waitMs > 0 || id === failed.upstream.id) return retryBudget.take(id, cost, deadlines.size());
  return retryBudget.takeFailover(id, cost) ? freeGrant : undefined;
}
