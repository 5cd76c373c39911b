import type { Health } from '../../attempts/health/health.ts';
import type { Endpoint, EndpointRoute } from '../shared/endpoint.ts';
import { writeJson } from '../shared/write-json.ts';
import { describeHealth, type HealthScope } from './describe-health.ts';

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
      200: { description: scope === 'all' ? 'Serving. `targets` lists recently used targets with their state.' : 'Serving.' },
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
