import type { PriceBook } from '../../../billing/rating/rating.ts';
import type { DialectId } from '../../../dialects/dialect-id.ts';
import type { ListedModel } from '../../../dialects/model-lists.ts';
import type { ModelKind } from '../../../inference/interfaces.ts';
import { modelKindsOf } from '../../../upstreams/model-kind-rules.ts';
import type { ReplyCheck, ToolModes } from '../../settings/call-settings.ts';
import type { HealthSubject } from '../health/health.ts';
import { hashText } from './conversation-hash.ts';
import { subjectOf, type Target, type TimeoutRule, type Upstream } from './target.ts';

/**
 * How calls are shared among targets of one priority. `conversation`: all calls of a conversation go to one target as long as it is healthy, so that
 * the vendor's prompt cache keeps working; conversations are spread by weight. `least-loaded`: to the one with the fewest calls under way for its
 * weight. `random`: each call for itself, by weight.
 */
export type Balance = 'conversation' | 'least-loaded' | 'random';

/**
 * Where the conversations of stored responses are kept. `auto`: at the upstream as long as a conversation stays with one that keeps it, and in the
 * gateway's own copy; `gateway`: in that copy alone, upstreams keep nothing; `upstream`: at the upstream alone.
 */
export type ResponseState = 'auto' | 'gateway' | 'upstream';

/**
 * Who ends replies at stop sequences where the upstream does not say that it did. `upstream`: it does, and what it says is answered; `gateway`: it
 * is not told of them, and the reply is cut here.
 */
export type StopSequences = 'upstream' | 'gateway';

/** A model that the configuration names. */
export type ConfiguredModel = {
  readonly name: string;
  readonly targets: readonly Target[];
  /** Whether the configuration sets priorities. Otherwise targets that speak the caller's dialect come before the others. */
  readonly ordered?: boolean;
  /** Absent: `conversation`, and targets of one priority that speak the caller's dialect come before the others of it. */
  readonly balance?: Balance;
  /** Absent: `auto`. */
  readonly responseState?: ResponseState;
  /** Absent: `upstream`. */
  readonly stopSequences?: StopSequences;
  /** Whether its replies are checked against schemas. Absent: as the settings say. */
  readonly replyCheck?: ReplyCheck;
  /** Who runs its built-in tools. Absent: as the settings say. */
  readonly toolModes?: ToolModes;
};

/** A target with what ranking it needs. */
export type RoutedTarget = {
  readonly target: Target;
  readonly weight: number;
  readonly subject: HealthSubject;
  /** What its model is made for, as far as that is known. */
  readonly kinds: readonly ModelKind[] | undefined;
  /** What sets it apart from the others in rendezvous. Stays the same when a credential is renewed. */
  readonly seed: number;
};

/** Targets of one priority. */
export type Tier = readonly RoutedTarget[];

/** Where a model goes. */
export type Route = {
  /** By priority; within one, in the order of the configuration. */
  readonly targets: readonly Target[];
  readonly balance: Balance;
  readonly responseState: ResponseState;
  readonly toolModes?: ToolModes | undefined;
  readonly replyCheck?: ReplyCheck | undefined;
  readonly stopSequences?: StopSequences | undefined;
  /** Whether any target has conditions. */
  readonly isConditional: boolean;
  /** The targets as a dialect's calls are to try them, whatever their conditions. Calls that are no chats have none. */
  readonly tiersFor: (dialect: DialectId | undefined) => readonly Tier[];
};

/** Whether all that a model may go to is known to make pictures and nothing else. */
export function makesOnlyPictures(route: Route): boolean {
  return route
    .tiersFor(undefined)
    .every((tier) => tier.every(({ kinds }) => kinds !== undefined && kinds.every((kind) => kind === 'image')));
}

/** Makes the route of a model. */
export function createRoute(model: Omit<ConfiguredModel, 'name'>): Route {
  const tiers = groupTiers(model.targets);
  const ordered = new Map<DialectId, readonly Tier[]>();
  return {
    targets: tiers.flatMap((tier) => tier.map(({ target }) => target)),
    balance: model.balance ?? 'conversation',
    responseState: model.responseState ?? 'auto',
    toolModes: model.toolModes,
    replyCheck: model.replyCheck,
    stopSequences: model.stopSequences,
    isConditional: model.targets.some(({ when }) => when !== undefined),
    tiersFor: (dialect) => {
      if (dialect === undefined) return tiers;
      const known = ordered.get(dialect);
      if (known !== undefined) return known;
      const made = orderFor(dialect, tiers, model);
      ordered.set(dialect, made);
      return made;
    },
  };
}

function groupTiers(targets: readonly Target[]): readonly Tier[] {
  const tiers = new Map<number, RoutedTarget[]>();
  const seen = new Map<string, number>();
  for (const [index, target] of targets.entries()) {
    const priority = target.priority ?? index + 1;
    const tier = tiers.get(priority) ?? [];
    const name = `${target.upstream.id}\n${target.upstreamModel}`;
    const ordinal = seen.get(name) ?? 0;
    seen.set(name, ordinal + 1);
    const kinds = target.kind === undefined ? modelKindsOf(target.upstream.vendor, target.upstreamModel) : [target.kind];
    tier.push({ target, weight: target.weight ?? 1, subject: subjectOf(target), kinds, seed: hashText(`${name}\n${ordinal}`) });
    tiers.set(priority, tier);
  }
  return [...tiers].toSorted(([first], [second]) => first - second).map(([, tier]) => tier);
}

/**
 * Nothing is lost where the upstream speaks the caller's dialect. Where the configuration leaves the order open, such targets therefore come first; where it
 * sets priorities they do so within a priority, unless it also says how that is to be shared.
 */
function orderFor(dialect: DialectId, tiers: readonly Tier[], { ordered, balance }: Omit<ConfiguredModel, 'name'>): readonly Tier[] {
  const speaks = ({ target }: RoutedTarget): boolean => target.upstream.dialects.includes(dialect);
  if (ordered === true && balance !== undefined) return tiers;
  const split = tiers.flatMap((tier) => {
    const native = tier.filter(speaks);
    return native.length === 0 || native.length === tier.length ? [tier] : [native, tier.filter((routed) => !speaks(routed))];
  });
  if (ordered === true) return split;
  const isNative = (tier: Tier): boolean => tier.every(speaks);
  return [...split.filter(isNative), ...split.filter((tier) => !isNative(tier))];
}

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
