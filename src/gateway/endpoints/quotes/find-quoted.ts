import { GatewayError } from '../../../inference/gateway-error.ts';
import { readRequestTarget } from '../../admission/read-request.ts';
import type { EndpointRoute, PathMatch, Quote } from '../shared/endpoint.ts';

/** Finds what a method and a path mean. */
export type FindRoute<Services> = (
  method: string,
  path: string,
) => ({ readonly found: true; readonly route: EndpointRoute<Services> } & PathMatch) | { readonly found: false };

/**
 * Finds how a request to a path is priced.
 * @throws GatewayError `invalid_value` for a path to which nothing is sent that costs anything
 */
export function findQuoted<Services>(findRoute: FindRoute<Services>, address: string): Quote<Services> {
  const target = readRequestTarget(address);
  const match = target === undefined ? undefined : findRoute('POST', target.path);
  const quote = target !== undefined && match?.found === true ? match.route.quote?.(match, target) : undefined;
  if (quote !== undefined) return quote;
  const message = `path: ${JSON.stringify(address.slice(0, 200))} is no path to which a request is posted that costs anything, such as "/v1/messages"`;
  throw new GatewayError('invalid_value', message, { param: 'path' });
}
