import type { Health } from '../../attempts/health/health.ts';
import type { Endpoint, EndpointRoute } from '../shared/endpoint.ts';
import { writeJson } from '../shared/write-json.ts';
import { describeHealth, type Probe } from './describe-health.ts';

type HealthServices = { readonly health: Pick<Health, 'report'> };

function route(path: string, probe: Probe): EndpointRoute<HealthServices> {
  return {
    method: 'GET',
    path,
    openApi: { operation: () => healthOperation(probe) },
    serve: ({ health }, http) => {
      const { status, state } = describeHealth(probe, health, http.server.hindrances());
      writeJson(http, status, state);
      return undefined;
    },
  };
}

function healthOperation(probe: Probe): object {
  return {
    summary: `Health (${probe})`,
    responses: {
      200: { description: probe === 'all' ? 'Serving. `targets` lists those that calls went to lately, with their state.' : 'Serving.' },
      ...(probe === 'live' ? {} : { 503: { description: 'Should get no traffic; `reasons` says why.' } }),
    },
  };
}

/** Whether the gateway serves, and what it is: the only routes that need no key. */
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
