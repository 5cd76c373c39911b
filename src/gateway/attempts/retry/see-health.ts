import type { AttemptServices, GatewaySettings } from '../services.ts';
import type { AskingCall } from '../health/asking-call.ts';
import type { Availability } from '../health/health.ts';
import { alwaysHealthy } from '../routing/always-healthy.ts';
import { subjectOf } from '../routing/route.ts';
import type { Target } from '../routing/target.ts';

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
