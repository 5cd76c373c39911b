import type { Health } from '../../attempts/health/health.ts';

/** The scope of a health request: everything, liveness or readiness. */
export type HealthScope = 'all' | 'live' | 'ready';

/**
 * The answer of a health route.
 * @param notReadyReasons why the gateway should get no traffic at the moment; empty if it is ready
 */
export function describeHealth(
  scope: HealthScope,
  health: Pick<Health, 'report'>,
  notReadyReasons: readonly string[],
): { readonly status: 200 | 503; readonly state: object } {
  const ready = notReadyReasons.length === 0;
  const reasons = ready ? {} : { reasons: notReadyReasons };
  const targets = scope === 'all' ? { targets: describeTargets(health) } : {};
  return { status: scope === 'live' || ready ? 200 : 503, state: { live: true, ready, ...reasons, ...targets } };
}

/** The most targets in an answer. The metrics have all of them. */
const shownTargetsMax = 200;

/** Recently used targets, failing ones first. A credential is shown by its position and never by its value. */
function describeTargets(health: Pick<Health, 'report'>): readonly object[] {
  const order = ['rejected', 'failing', 'rate-limited', 'suspect', 'healthy'];
  return health
    .report()
    .toSorted((first, second) => order.indexOf(first.state) - order.indexOf(second.state))
    .slice(0, shownTargetsMax)
    .map(({ upstreamId, credentialId, upstreamModel, state, againInMs }) => ({
      upstream: upstreamId,
      // Without the suffix that distinguishes a renewed key from the previous one.
      credential: credentialId.replace(/~.*$/, ''),
      model: upstreamModel,
      state,
      ...(againInMs === undefined ? {} : { againInMs }),
    }));
}
