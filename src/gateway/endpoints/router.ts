import type { IncomingMessage } from 'node:http';

import findMyWay, { type HTTPMethod } from 'find-my-way';

import type { EndpointRoute, PathMatch } from './shared/endpoint.ts';

/** The route of a method and a path. */
export type RouteMatch<Services> =
  | ({ readonly found: true; readonly route: EndpointRoute<Services> } & PathMatch)
  /** The methods of the path; empty if the path is unknown. */
  | { readonly found: false; readonly allowedMethods: readonly string[] };

/** Finds the route of a request. `HEAD` is answered on every `GET` route. */
export type FindRoute<Services> = (method: string, path: string) => RouteMatch<Services>;

const routedMethods = ['GET', 'POST', 'DELETE'] as const;

/** Longer segments name nothing. They get the errors of unknown objects and not of unknown routes. */
const segmentCharactersMax = 4096;

/** Whether the path of a route has no variable parts. */
export function isPlain(path: string): boolean {
  return !/[*:]/.test(path);
}

/** Builds the router of these routes. */
export function createRouter<Services>(routes: readonly EndpointRoute<Services>[]): FindRoute<Services> {
  const router = findMyWay({ ignoreTrailingSlash: true, caseSensitive: true, maxParamLength: segmentCharactersMax });
  const ignored = (_request: IncomingMessage): void => {};
  /** Most calls go to a path without variable parts, which one look-up finds. */
  const plain = new Map<string, RouteMatch<Services>>();
  const plainPaths = new Set<string>();
  for (const route of routes) {
    const { method, path } = route;
    router.on(method, path, ignored, route);
    if (!isPlain(path)) continue;
    plain.set(`${method} ${path}`, { found: true, route, rest: '', params: {} });
    plainPaths.add(path);
  }
  const find = (method: string, path: string) => {
    const match = router.find(method as HTTPMethod, path);
    if (match === null) return undefined;
    const route = match.store as EndpointRoute<Services>;
    if (route.takes?.(path) === false) return undefined;
    // A pattern also matches paths of routes with other methods: no response has the id `compact`.
    const isOthers = Object.keys(match.params).length > 0 && plainPaths.has(path.replace(/\/$/, ''));
    return isOthers ? undefined : { route, params: match.params };
  };
  return (method, path) => {
    const match = plain.get(`${method} ${path}`);
    if (match !== undefined) return match;
    const found = find(method === 'HEAD' ? 'GET' : method, path);
    if (found !== undefined) {
      const { route, params } = found;
      // The rest is cut from the raw path, because the router has already decoded its own copy.
      const rest = params['*'] === undefined ? '' : path.slice(route.path.indexOf('*'));
      return { found: true, route, rest, params };
    }
    const allowedMethods = routedMethods.filter((other) => {
      const allowed = find(other, path);
      return allowed !== undefined && allowed.route.isNamedFor?.(path) !== false;
    });
    return { found: false, allowedMethods: allowedMethods.includes('GET') ? [...allowedMethods, 'HEAD'] : allowedMethods };
  };
}
