import { healthEndpoint } from '../../gateway/endpoints/health/health-endpoint.ts';
import { findRoute } from '../../gateway/endpoints/registry.ts';

const healthRoutes: ReadonlySet<unknown> = new Set(healthEndpoint.routes);
/** Answers with a secret, which an operation of the admin API changes. */
const secretPath = '/v1/callbacks/secret/rotate';

/** Whether the playground may pass a request on: to every interface that needs a key. */
export function findRelayedRoute(method: string, path: string): boolean {
  const match = findRoute(method, path);
  return match.found && !healthRoutes.has(match.route) && match.route.path !== secretPath;
}
