import { GatewayError } from '../../../inference/gateway-error.ts';
import { nearestName } from '../../../platform/nearest-name.ts';
import { routes } from '../../endpoints/registry.ts';
import { type FindRoute, isPlain, type RouteMatch } from '../../endpoints/router.ts';

/** The path where SDKs of generate-content upload files. */
const uploadPath = /^(?:\/upload)?\/v1(?:alpha|beta)\/files(?:\/|:|$)/;
const monitorPath = /^\/bill(?:\/|$)/;

const shownCharactersMax = 200;

/** The error for an unknown path, with the most similar known one, and for a method that a path does not have. */
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
  const suggestion = suggestPath(path, (other) => {
    const match = findRoute('POST', other);
    return match.found || match.allowedMethods.length > 0;
  });
  return suggestion === undefined ? '' : `; did you mean ${suggestion.slice(0, shownCharactersMax)}?`;
}

/** Longer paths are not typing errors. */
const pathCharactersMax = 300;
const segmentsMax = 12;

/** The beginnings of interfaces, which clients omit, repeat, or replace by those of another service. */
const prefixes = ['/v1/', '/v1beta/', '/'];

const plainPaths = routes.map(({ path }) => path).filter((path) => path !== '/' && isPlain(path));

/**
 * The known path that is most similar to an unknown one, such as `/v1/v1/messages`, `/messages`,
 * `/v1beta/openai/chat/completions` or `/v1/mesages`.
 * @param isThere whether a path has any route
 */
export function suggestPath(path: string, isThere: (path: string) => boolean): string | undefined {
  if (path.length > pathCharactersMax) return undefined;
  const segments = path.split('/').filter((segment) => segment !== '');
  if (segments.length > segmentsMax) return undefined;
  for (let from = 0; from < segments.length; from += 1) {
    const rest = segments.slice(from).join('/');
    // Methods of a model exist only in generate-content; a plain `models/…` exists in both.
    const candidates = /:(?:generateContent|streamGenerateContent|countTokens)$/i.test(rest) ? ['/v1beta/', '/'] : prefixes;
    const found = candidates.map((prefix) => `${prefix}${rest}`).find((candidate) => candidate !== path && isThere(candidate));
    if (found !== undefined) return found;
  }
  return nearestName(path, plainPaths);
}
