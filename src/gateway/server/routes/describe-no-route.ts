import { GatewayError } from '../../../inference/gateway-error.ts';
import type { FindRoute, RouteMatch } from '../../endpoints/router.ts';
import { suggestPath } from './suggest-path.ts';

/** Where the SDKs of generate-content upload files. */
const uploadPath = /^(?:\/upload)?\/v1(?:alpha|beta)\/files(?:\/|:|$)/;
const monitorPath = /^\/bill(?:\/|$)/;

const shownCharactersMax = 200;

/** The error for a path that is not there, with the one that was probably meant, and for a method that a path does not take. */
export function describeNoRoute(
  method: string | undefined,
  path: string,
  { allowedMethods }: Extract<RouteMatch<never>, { found: false }>,
  findRoute: FindRoute<never>,
): GatewayError {
  const shown = path.slice(0, shownCharactersMax);
  if (allowedMethods.length === 0) return new GatewayError('route_not_found', `there is nothing at ${shown}${advise(path, findRoute)}`);
  const allow = allowedMethods.join(', ');
  return new GatewayError('method_not_allowed', `${shown} does not take ${method ?? 'this method'}; it takes ${allow}`, {
    headers: { allow },
  });
}

function advise(path: string, findRoute: FindRoute<never>): string {
  if (uploadPath.test(path)) return ": this interface takes no uploads. Send a file's content in the request, as inlineData";
  if (monitorPath.test(path)) return ': the monitor has an address of its own, port 8081 unless WEIR_MONITOR_PORT says otherwise';
  const meant = suggestPath(path, (other) => {
    const match = findRoute('POST', other);
    return match.found || match.allowedMethods.length > 0;
  });
  return meant === undefined ? '' : `; did you mean ${meant.slice(0, shownCharactersMax)}?`;
}
