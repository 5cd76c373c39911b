import type { Health } from '../../attempts/health/health.ts';

/** What is asked: all, or only whether it lives or is ready. */
export type Probe = 'all' | 'live' | 'ready';

/**
 * The answer of a health route.
 * @param hindrances reasons why the gateway should get no traffic at the moment; none when it is ready
 */
export function describeHealth(
  probe: Probe,
  health: Pick<Health, 'report'>,
  hindrances: readonly string[],
): { readonly status: 200 | 503; readonly state: object } {
  const ready = hindrances.length === 0;
  const reasons = ready ? {} : { reasons: hindrances };
  const targets = probe === 'all' ? { targets: describeTargets(health) } : {};
  return { status: probe === 'live' || ready ? 200 : 503, state: { live: true, ready, ...reasons, ...targets } };
}

/** More would be nothing that a person reads; the metrics have them all. */
const shownTargetsMax = 200;

/** The targets that calls went to lately, those that do not work first. Which credential it is, is told by its place and never by its value. */
function describeTargets(health: Pick<Health, 'report'>): readonly object[] {
  const order = ['rejected', 'failing', 'rate-limited', 'suspect', 'healthy'];
  return health
    .report()
    .toSorted((first, second) => order.indexOf(first.state) - order.indexOf(second.state))
    .slice(0, shownTargetsMax)
    .map(({ upstreamId, credentialId, upstreamModel, state, againInMs }) => ({
      upstream: upstreamId,
      // Without the mark that tells a renewed key from its predecessor.
      credential: credentialId.replace(/~.*$/, ''),
      model: upstreamModel,
      state,
      ...(againInMs === undefined ? {} : { againInMs }),
    }));
}
