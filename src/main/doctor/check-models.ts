import type { UsableConfiguration } from './check-configuration.ts';
import { type Finding, tidyWords } from './finding.ts';

const namedMax = 5;

/** Some names, and how many more there are. */
function someOf(names: readonly string[]): string {
  const shown = names.slice(0, namedMax).join(', ');
  return tidyWords(names.length > namedMax ? `${shown} and ${names.length - namedMax} more` : shown);
}

/** The name that a vendor lists for an alias has a date at its end: `claude-sonnet-4-5-20250929`. */
const dated = /^-(?:\d{8}|\d{4}-\d{2}-\d{2})$/;
const isListed = (model: string, listed: readonly string[]): boolean =>
  listed.some((name) => name === model || (name.startsWith(model) && dated.test(name.slice(model.length))));

/**
 * Compares the models that a configuration sends to an upstream with those that the upstream lists, and names those
 * without a price, whose calls would be booked at zero.
 * @param listed the names in the upstream's list; empty if it has none
 */
export function checkModels(
  upstreamId: string,
  { config, source, settings }: UsableConfiguration,
  listed: readonly string[],
): readonly Finding[] {
  const upstream = settings.routing.upstreams.find(({ id }) => id === upstreamId);
  if (upstream === undefined) return [];
  const { priceBook } = settings.routing;
  const named = Object.entries(config.models ?? {}).flatMap(([name, { targets, price }]) =>
    targets
      .filter((target) => target.upstream === upstreamId)
      .map(({ model = name }) => ({ model, hasPrice: price !== undefined || priceBook.lists(upstream.vendor.id, model) }))
      .filter(({ model }) => !model.endsWith('*')),
  );
  const discovers = source.upstreams[upstreamId]?.discoverModels !== false;
  const found = discovers ? listed.map((model) => ({ model, hasPrice: priceBook.lists(upstream.vendor.id, model) })) : [];
  return [
    ...findAbsent(
      named.map(({ model }) => model),
      listed,
    ),
    ...findUnpriced(named, found),
  ];
}

function findAbsent(named: readonly string[], listed: readonly string[]): readonly Finding[] {
  if (named.length === 0 || listed.length === 0) return [];
  const subject = 'models';
  const absent = [...new Set(named.filter((model) => !isListed(model, listed)))];
  if (absent.length === 0) return [{ verdict: 'good', subject, says: `the models that are sent to it are in its list: ${someOf(named)}` }];
  const says = `not in its list of ${listed.length}: ${someOf(absent)}`;
  const advice =
    'check the spelling; if the vendor has it under another name, a check with small calls and this model shows whether it answers';
  return [{ verdict: 'warning', subject, says, advice }];
}

type Priced = { readonly model: string; readonly hasPrice: boolean };

function findUnpriced(named: readonly Priced[], found: readonly Priced[]): readonly Finding[] {
  const subject = 'prices';
  const without = (models: readonly Priced[]): readonly string[] => [
    ...new Set(models.filter(({ hasPrice }) => !hasPrice).map(({ model }) => model)),
  ];
  const [own, listed] = [without(named), without(found)];
  const advice = 'publish prices for them; calls of a model without a price are booked at zero';
  if (own.length > 0) return [{ verdict: 'warning', subject, says: `no price for ${someOf(own)}`, advice }];
  if (listed.length === 0) return [];
  const hasNone = listed.length === found.length;
  const some = hasNone ? 'what it lists' : `${listed.length} of the ${found.length} models that it lists`;
  // Vendors list many models that nobody calls.
  return [{ verdict: hasNone ? 'warning' : 'none', subject, says: `no price for ${some}: ${someOf(listed)}`, advice }];
}
