import type { ConfiguredModel } from './configured-model.ts';
import type { Upstream, Target } from './target.ts';
import type { ListedModel } from '../../../dialects/model-lists.ts';
import type { PriceBook } from '../../../billing/rating/rating.ts';
import { createRoute, type Route } from './route.ts';
import type { TimeoutRule } from './target-timeouts.ts';

/** A model that an upstream says it serves, by its name there, which is the name it can be called by here. */
export type DiscoveredModel = {
  readonly name: string;
  /** When it was made, in Unix milliseconds, where the upstream says so. */
  readonly createdAtMs?: number;
};

/** What was last heard of each upstream that is asked for its models, by the upstream's id. */
export type DiscoveredModels = ReadonlyMap<string, readonly DiscoveredModel[]>;

/** Where each model goes: everything that a configuration decides, as one immutable value that a reload replaces. */
export type RoutingTable = {
  /** Where a model goes; undefined when no target knows it. */
  readonly routeOf: (requestedModel: string) => Route | undefined;
  /** The targets of a model, by priority; empty when no target knows it. */
  readonly targetsOf: (requestedModel: string) => readonly Target[];
  readonly models: readonly ListedModel[];
  readonly priceBook: PriceBook;
  /** One for each credential: an upstream with several stands here several times. */
  readonly upstreams: readonly Upstream[];
  /** The same table with these discovered models instead of the ones it has. */
  readonly withDiscovered: (discovered: DiscoveredModels) => RoutingTable;
};

/** What a table is made from. */
export type RoutingOptions = {
  readonly upstreams: readonly Upstream[];
  readonly models: readonly ConfiguredModel[];
  readonly priceBook: PriceBook;
  readonly configuredAtMs: number;
  readonly discovered?: DiscoveredModels;
  /** The timeouts of targets that the configuration does not name. */
  readonly timeoutsOf?: TimeoutRule;
};

/** A model that the configuration does not name, at the upstreams that have it: in their order, those with several credentials sharing its calls among them. */
function createUnnamedRoute(upstreams: readonly Upstream[], upstreamModel: string, timeoutsOf: TimeoutRule | undefined): Route {
  const ids = [...new Set(upstreams.map(({ id }) => id))];
  const targets = upstreams.map((upstream): Target => {
    const timeouts = timeoutsOf?.(upstream, upstreamModel);
    return { upstream, upstreamModel, priority: ids.indexOf(upstream.id) + 1, ...(timeouts === undefined ? {} : { timeouts }) };
  });
  return createRoute({ targets });
}

/** `models/gemini-x` is the same model as `gemini-x`. */
function plainName(model: string): string {
  return model.startsWith('models/') ? model.slice('models/'.length) : model;
}

/** The discovered models by name. Several upstreams may have one of the same name: the first of the configuration is the first choice. */
function discoveredRoutes(options: RoutingOptions): ReadonlyMap<string, Route> {
  const found = new Map<string, Upstream[]>();
  for (const upstream of options.upstreams) {
    for (const { name } of options.discovered?.get(upstream.id) ?? []) {
      const upstreams = found.get(name) ?? [];
      upstreams.push(upstream);
      found.set(name, upstreams);
    }
  }
  return new Map([...found].map(([name, upstreams]) => [name, createUnnamedRoute(upstreams, name, options.timeoutsOf)]));
}

/** Entries whose name ends in `*` stand for every name that begins so. Longer beginnings come first, so that the nearest entry wins. */
function compilePatterns(models: readonly ConfiguredModel[]): (name: string) => Route | undefined {
  const patterns = models
    .filter((model) => model.name.endsWith('*'))
    .map((model) => ({ ...model, prefix: model.name.slice(0, -1) }))
    .toSorted((first, second) => second.prefix.length - first.prefix.length);
  return (name) => {
    const found = patterns.find(({ prefix }) => name.startsWith(prefix));
    if (found === undefined) return undefined;
    // A target without a name of its own is asked for the model by the name that the client used.
    const targets = found.targets.map((target) => (target.upstreamModel === found.name ? { ...target, upstreamModel: name } : target));
    return createRoute({ ...found, targets });
  };
}

/** Routes of names that are looked up rather than listed, kept because callers use few of them again and again. Names come from callers, so both have bounds. */
const rememberedRoutesMax = 1000;
const rememberedNameCharactersMax = 256;

function rememberRoutes(find: (requestedModel: string) => Route | undefined): (requestedModel: string) => Route | undefined {
  const known = new Map<string, Route>();
  return (requestedModel) => {
    const remembered = known.get(requestedModel);
    if (remembered !== undefined) return remembered;
    const route = find(requestedModel);
    if (route === undefined || requestedModel.length > rememberedNameCharactersMax) return route;
    if (known.size >= rememberedRoutesMax) known.clear();
    known.set(requestedModel, route);
    return route;
  };
}

/**
 * Builds the table of one configuration. A name means the model that the configuration gives it, by itself or by its beginning, else the one that a price book lists under it, else
 * one that an upstream was discovered to serve: what a server says can never take a name away from what an operator or a vendor has set.
 */
export function createRoutingTable(options: RoutingOptions): RoutingTable {
  const { upstreams, priceBook } = options;
  const configured = new Map(options.models.map((model) => [model.name, createRoute(model)]));
  const matchPattern = compilePatterns(options.models);
  const discovered = discoveredRoutes(options);
  const routeOf = rememberRoutes((requestedModel) => {
    const name = plainName(requestedModel);
    const named = configured.get(requestedModel) ?? configured.get(name) ?? matchPattern(name);
    if (named !== undefined) return named;
    // Price books list chat models for vendors that make models; those of a compatible server are named in the configuration or discovered.
    const listing = upstreams.filter((upstream) => priceBook.lists(upstream.vendor.id, name));
    if (listing.length > 0) return createUnnamedRoute(listing, name, options.timeoutsOf);
    return discovered.get(requestedModel) ?? discovered.get(name);
  });
  return {
    routeOf,
    targetsOf: (requestedModel) => routeOf(requestedModel)?.targets ?? [],
    models: listModels(options),
    priceBook,
    upstreams,
    withDiscovered: (models) => createRoutingTable({ ...options, discovered: models }),
  };
}

function listModels(options: RoutingOptions): readonly ListedModel[] {
  const { upstreams, priceBook, configuredAtMs } = options;
  const models = new Map<string, ListedModel>();
  for (const model of options.models) {
    if (model.name.endsWith('*')) continue;
    const ownedBy = model.targets[0]?.upstream.vendor.id ?? 'weir';
    models.set(model.name, { id: model.name, displayName: model.name, createdAtMs: configuredAtMs, ownedBy });
  }
  for (const vendor of new Set(upstreams.map((upstream) => upstream.vendor.id))) {
    for (const priced of priceBook.models(vendor)) {
      if (models.has(priced.model)) continue;
      models.set(priced.model, { id: priced.model, displayName: priced.displayName, createdAtMs: priced.releasedAtMs, ownedBy: vendor });
    }
  }
  for (const { id, vendor } of upstreams) {
    for (const { name, createdAtMs } of options.discovered?.get(id) ?? []) {
      if (models.has(name)) continue;
      models.set(name, { id: name, displayName: name, createdAtMs: createdAtMs ?? configuredAtMs, ownedBy: vendor.id });
    }
  }
  return [...models.values()];
}
