import type { Route, RoutingTable, Tier } from './routing-table.ts';
import type { Target } from './target.ts';

/**
 * The same table without some targets, which an operator has taken out of use. The route of a model keeps its name if
 * no target is left, so that its calls get an error that says so.
 */
export function withoutTargets(table: RoutingTable, isOut: (target: Target) => boolean): RoutingTable {
  const filtered = new WeakMap<Route, Route>();
  const routeOf = (requestedModel: string): Route | undefined => {
    const route = table.routeOf(requestedModel);
    return route === undefined ? undefined : filtered.getOrInsertComputed(route, () => filterRoute(route, isOut));
  };
  return {
    ...table,
    routeOf,
    targetsOf: (requestedModel) => routeOf(requestedModel)?.targets ?? [],
    withDiscovered: (discovered) => withoutTargets(table.withDiscovered(discovered), isOut),
  };
}

function filterRoute(route: Route, isOut: (target: Target) => boolean): Route {
  const targets = route.targets.filter((target) => !isOut(target));
  if (targets.length === route.targets.length) return route;
  const ordered = new Map<Parameters<Route['tiersFor']>[0], readonly Tier[]>();
  return {
    ...route,
    targets,
    isConditional: targets.some(({ when }) => when !== undefined),
    tiersFor: (dialect) =>
      ordered.getOrInsertComputed(dialect, () =>
        route
          .tiersFor(dialect)
          .map((tier) => tier.filter(({ target }) => !isOut(target)))
          .filter((tier) => tier.length > 0),
      ),
  };
}
