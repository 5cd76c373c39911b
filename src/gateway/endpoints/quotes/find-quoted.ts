import { GatewayError } from '../../../inference/gateway-error.ts';
import { readRequestTarget } from '../../admission/read-request.ts';
import type { EndpointRoute, PathMatch, Quote } from '../shared/endpoint.ts';

/** Finds the route of a method and a path. */
export type FindRoute<Services> = (
  method: string,
  path: string,
) => ({ readonly found: true; readonly route: EndpointRoute<Services> } & PathMatch) | { readonly found: false };

/**
 * Finds how a request to a path is priced.
 * @throws GatewayError `invalid_value` if requests to the path are free, or the path is unknown
 */
export function findQuoted<Services>(findRoute: FindRoute<Services>, address: string): Quote<Services> {
  const target = readRequestTarget(address);
  const match = target === undefined ? undefined : findRoute('POST', target.path);
  const quote = target !== undefined && match?.found === true ? match.route.quote?.(match, target) : undefined;
  if (quote !== undefined) return quote;
  const message = `path: ${JSON.stringify(address.slice(0, 200))} is not a path of paid POST requests; an example is "/v1/messages"`;
  throw new GatewayError('invalid_value', message, { param: 'path' });
}
