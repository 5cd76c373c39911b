import { release } from '../../../platform/release.ts';
import type { Health } from '../../attempts/health/health.ts';
import type { Endpoint, EndpointRoute } from '../shared/endpoint.ts';
import { writeJson } from '../shared/write-json.ts';

type HealthServices = { readonly health: Pick<Health, 'report'> };

function route(path: string, scope: HealthScope): EndpointRoute<HealthServices> {
  return {
    method: 'GET',
    path,
    openApi: { operation: () => healthOperation(scope) },
    serve: ({ health }, http) => {
      const { status, state } = describeHealth(scope, health, http.server.notReadyReasons());
      writeJson(http, status, state);
      return undefined;
    },
  };
}

function healthOperation(scope: HealthScope): object {
  return {
    summary: `Health (${scope})`,
    responses: {
      200: {
        description:
          scope === 'all' ? 'Serving. `version` says what runs; `targets` lists recently used targets with their state.' : 'Serving.',
      },
      ...(scope === 'live' ? {} : { 503: { description: 'Should get no traffic; `reasons` says why.' } }),
    },
  };
}

/** Whether the gateway serves, and what it is. Only these routes need no key. */
export const healthEndpoint: Endpoint<HealthServices> = {
  name: 'health',
  routes: [
    route('/health', 'all'),
    route('/health/live', 'live'),
    route('/health/ready', 'ready'),
    {
      method: 'GET',
      path: '/',
      openApi: { operation: () => ({ summary: 'What this is', responses: { 200: { description: 'Name and main paths.' } } }) },
      serve: (_services, http) => {
        writeJson(http, 200, { name: 'weir', health: '/health', models: '/v1/models' });
        return undefined;
      },
    },
  ],
};

/** The scope of a health request: everything, liveness or readiness. */
type HealthScope = 'all' | 'live' | 'ready';

/**
 * The answer of a health route.
 * @param notReadyReasons why the gateway should get no traffic at the moment; empty if it is ready
 */
function describeHealth(
  scope: HealthScope,
  health: Pick<Health, 'report'>,
  notReadyReasons: readonly string[],
): { readonly status: 200 | 503; readonly state: object } {
  const ready = notReadyReasons.length === 0;
  const reasons = ready ? {} : { reasons: notReadyReasons };
  const rest = scope === 'all' ? { ...release, targets: describeTargets(health) } : {};
  return { status: scope === 'live' || ready ? 200 : 503, state: { live: true, ready, ...reasons, ...rest } };
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
