import { describeConditions } from '../../gateway/attempts/routing/conditions.ts';
import type { ConfiguredModel, RoutingTable } from '../../gateway/attempts/routing/routing-table.ts';
import type { Target } from '../../gateway/attempts/routing/target.ts';
import type { Config } from '../config/config-schema.ts';

/** Targets that differ in their credential only, as the configuration names them. */
type Place = { readonly target: Target; readonly credentials: number; readonly weight: number };

const balances: Readonly<Record<NonNullable<ConfiguredModel['balance']>, string>> = {
  conversation: 'each conversation at one',
  'least-loaded': 'the least loaded first',
  random: 'each call by itself',
};

/** Says of each model where it goes, in lines for people: one line for a model with a single target, otherwise one for each priority. */
export function describeModels(table: Pick<RoutingTable, 'routeOf'>, models: NonNullable<Config['models']>): readonly string[] {
  return Object.entries(models).flatMap(([name, { targets }]) => {
    const route = table.routeOf(name);
    if (route === undefined) return [];
    const tiers = [...Map.groupBy(route.targets, (target) => target.priority ?? 0).values()].map(listPlaces);
    const [first = []] = tiers;
    const [only] = first;
    if (tiers.length === 1 && first.length === 1 && only !== undefined) return [`model ${name}: ${wordPlace(only)}${wordDetails(only)}`];
    const lines = tiers.map((places, index) => `  ${index === 0 ? 'first' : ' then'}  ${wordTier(places, balances[route.balance])}`);
    const dialects = new Set(route.targets.map(({ upstream }) => upstream.dialects.toSorted().join()));
    const isOpen = dialects.size > 1 && targets.every(({ priority }) => priority === undefined);
    return [`model ${name}:${isOpen ? " targets that speak the caller's interface before the others" : ''}`, ...lines];
  });
}

function listPlaces(tier: readonly Target[]): readonly Place[] {
  const places = new Map<string, Place>();
  for (const target of tier) {
    const key = JSON.stringify([target.upstream.id, target.upstreamModel, target.when]);
    const known = places.get(key);
    const weight = (known?.weight ?? 0) + (target.weight ?? 1);
    places.set(key, { target, weight, credentials: (known?.credentials ?? 0) + 1 });
  }
  return [...places.values()];
}

function wordTier(places: readonly Place[], balance: string): string {
  const total = places.reduce((sum, { weight }) => sum + weight, 0);
  const [only] = places;
  if (places.length === 1 && only !== undefined) return `${wordPlace(only)}${wordDetails(only)}`;
  const shares = places.map((place) => `${wordPlace(place)} ${wordShare(place.weight / total)}${wordDetails(place)}`);
  return `${shares.join(' + ')}, ${balance}`;
}

function wordPlace({ target: { upstream, upstreamModel } }: Place): string {
  return `${upstream.id}/${upstreamModel}`;
}

function wordShare(share: number): string {
  const percent = Number((share * 100).toFixed(1));
  return percent === 0 ? 'under 0.1 %' : `${percent} %`;
}

function wordDetails({ target: { when }, credentials }: Place): string {
  const words = [...(credentials > 1 ? [`${credentials} keys`] : []), ...(when === undefined ? [] : [`only ${describeConditions(when)}`])];
  return words.length === 0 ? '' : ` (${words.join('; ')})`;
}
