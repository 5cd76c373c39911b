import { describeConditions } from '../../gateway/attempts/routing/conditions.ts';
import type { ConfiguredModel, RoutingTable } from '../../gateway/attempts/routing/routing-table.ts';
import type { Target } from '../../gateway/attempts/routing/target.ts';
import type { Config } from '../config/config-schema.ts';

/** Targets that differ only in their credential. The configuration names them once. */
type Destination = { readonly target: Target; readonly credentials: number; readonly weight: number };

const balances: Readonly<Record<NonNullable<ConfiguredModel['balance']>, string>> = {
  conversation: 'each conversation at one of them',
  'least-loaded': 'the least loaded first',
  random: 'each call chosen at random',
};

/** Describes for people where each model is routed: one line for a single target, otherwise one line per priority. */
export function describeModels(table: Pick<RoutingTable, 'routeOf'>, models: NonNullable<Config['models']>): readonly string[] {
  return Object.entries(models).flatMap(([name, { targets }]) => {
    const route = table.routeOf(name);
    if (route === undefined) return [];
    const tiers = [...Map.groupBy(route.targets, (target) => target.priority ?? 0).values()].map(listDestinations);
    const [first = []] = tiers;
    const [only] = first;
    if (tiers.length === 1 && first.length === 1 && only !== undefined)
      return [`model ${name}: ${describeDestination(only)}${describeDetails(only)}`];
    const lines = tiers.map(
      (destinations, index) => `  ${index === 0 ? 'first' : ' then'}  ${describeTier(destinations, balances[route.balance])}`,
    );
    const dialects = new Set(route.targets.map(({ upstream }) => upstream.dialects.toSorted().join()));
    const isOpen = dialects.size > 1 && targets.every(({ priority }) => priority === undefined);
    return [`model ${name}:${isOpen ? " targets that speak the caller's interface before the others" : ''}`, ...lines];
  });
}

function listDestinations(tier: readonly Target[]): readonly Destination[] {
  const destinations = new Map<string, Destination>();
  for (const target of tier) {
    const key = JSON.stringify([target.upstream.id, target.upstreamModel, target.when]);
    const known = destinations.get(key);
    const weight = (known?.weight ?? 0) + (target.weight ?? 1);
    destinations.set(key, { target, weight, credentials: (known?.credentials ?? 0) + 1 });
  }
  return [...destinations.values()];
}

function describeTier(destinations: readonly Destination[], balance: string): string {
  const total = destinations.reduce((sum, { weight }) => sum + weight, 0);
  const [only] = destinations;
  if (destinations.length === 1 && only !== undefined) return `${describeDestination(only)}${describeDetails(only)}`;
  const shares = destinations.map(
    (destination) => `${describeDestination(destination)} ${describeShare(destination.weight / total)}${describeDetails(destination)}`,
  );
  return `${shares.join(' + ')}, ${balance}`;
}

function describeDestination({ target: { upstream, upstreamModel } }: Destination): string {
  return `${upstream.id}/${upstreamModel}`;
}

function describeShare(share: number): string {
  const percent = Number((share * 100).toFixed(1));
  return percent === 0 ? 'under 0.1 %' : `${percent} %`;
}

function describeDetails({ target: { when }, credentials }: Destination): string {
  const words = [...(credentials > 1 ? [`${credentials} keys`] : []), ...(when === undefined ? [] : [`only ${describeConditions(when)}`])];
  return words.length === 0 ? '' : ` (${words.join('; ')})`;
}
