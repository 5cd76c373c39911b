import type { PriceBook } from '../../../billing/rating/rating.ts';
import type { DialectId } from '../../../dialects/dialect-id.ts';
import type { ListedModel } from '../../../dialects/model-lists.ts';
import type { ModelKind } from '../../../inference/interfaces.ts';
import { modelKindsOf } from '../../../upstreams/model-kind-rules.ts';
import type { ReplyCheck, ToolModes } from '../../settings/call-settings.ts';
import type { HealthSubject } from '../health/health.ts';
import { hashText } from './conversation-hash.ts';
import { subjectOf, type Target, type TimeoutRule, type Upstream, upstreamAt } from './target.ts';

/**
 * How targets of one priority share calls. `conversation`: all calls of a conversation go to one target while it is
 * healthy, so that the vendor's prompt cache works; conversations are spread by weight. `least-loaded`: to the target
 * with the fewest running calls for its weight. `random`: each call chosen at random, by weight.
 */
export type Balance = 'conversation' | 'least-loaded' | 'random';

/**
 * Where the conversations of stored responses are stored. `auto`: at the upstream while a conversation stays with one
 * that stores it, and in the gateway's own copy; `gateway`: only in that copy; `upstream`: only at the upstream.
 */
export type ResponseState = 'auto' | 'gateway' | 'upstream';

/**
 * What ends replies at stop sequences if the upstream does not report that it did. `upstream`: the upstream, and its
 * report is passed on; `gateway`: the upstream does not receive them, and the gateway cuts the reply.
 */
export type StopSequences = 'upstream' | 'gateway';

export type ConfiguredModel = {
  readonly name: string;
  readonly targets: readonly Target[];
  /** Whether the configuration sets priorities. Otherwise targets that speak the caller's dialect come first. */
  readonly ordered?: boolean;
  /** Absent: `conversation`, and within a priority targets that speak the caller's dialect come first. */
  readonly balance?: Balance;
  /** Absent: `auto`. */
  readonly responseState?: ResponseState;
  /** Absent: `upstream`. */
  readonly stopSequences?: StopSequences;
  /** Whether its replies are checked against schemas. Absent: as in the settings. */
  readonly replyCheck?: ReplyCheck;
  /** Whether the vendor or the gateway runs its built-in tools. Absent: as in the settings. */
  readonly toolModes?: ToolModes;
};

/** A target with the data that ranking needs. */
export type RoutedTarget = {
  readonly target: Target;
  readonly weight: number;
  readonly subject: HealthSubject;
  /** The kinds of its model, if they are known. */
  readonly kinds: readonly ModelKind[] | undefined;
  /** Distinguishes it from other targets in rendezvous hashing. It stays the same when a credential is renewed. */
  readonly seed: number;
};

export type Tier = readonly RoutedTarget[];

/** The targets and options of a model. */
export type Route = {
  /** By priority; within one, in the order of the configuration. */
  readonly targets: readonly Target[];
  readonly balance: Balance;
  readonly responseState: ResponseState;
  readonly toolModes?: ToolModes | undefined;
  readonly replyCheck?: ReplyCheck | undefined;
  readonly stopSequences?: StopSequences | undefined;
  readonly isConditional: boolean;
  /**
   * The targets in the order for calls of a dialect, whatever their conditions. Undefined: for calls that are not
   * chats.
   */
  readonly tiersFor: (dialect: DialectId | undefined) => readonly Tier[];
};

/** Whether every target of a model is known to make images and nothing else. */
export function makesOnlyImages(route: Route): boolean {
  return route
    .tiersFor(undefined)
    .every((tier) => tier.every(({ kinds }) => kinds !== undefined && kinds.every((kind) => kind === 'image')));
}

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
      return ordered.getOrInsertComputed(dialect, () => orderFor(dialect, tiers, model));
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
    const kinds = target.kind === undefined ? modelKindsOf(target.upstream.vendor, target.is ?? target.upstreamModel) : [target.kind];
    tier.push({ target, weight: target.weight ?? 1, subject: subjectOf(target), kinds, seed: hashText(`${name}\n${ordinal}`) });
    tiers.set(priority, tier);
  }
  return [...tiers].toSorted(([first], [second]) => first - second).map(([, tier]) => tier);
}

/**
 * Nothing is lost if the upstream speaks the caller's dialect. If the configuration sets no order, such targets come
 * first; if it sets priorities, they come first within a priority, unless it also sets the balance.
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

/** A model that an upstream lists. Its name there is also its name here. */
export type DiscoveredModel = {
  readonly name: string;
  /** The creation time in Unix milliseconds, if the upstream reports it. */
  readonly createdAtMs?: number;
};

/** The last list of models of each upstream that is queried for them, by the upstream's id. */
export type DiscoveredModels = ReadonlyMap<string, readonly DiscoveredModel[]>;

/** The routes of all models: the decisions of a configuration as one immutable value, which a reload replaces. */
export type RoutingTable = {
  /** The route of a model. Undefined if no target serves it. */
  readonly routeOf: (requestedModel: string) => Route | undefined;
  /** The targets of a model, by priority. Empty if no target serves it. */
  readonly targetsOf: (requestedModel: string) => readonly Target[];
  readonly models: readonly ListedModel[];
  readonly priceBook: PriceBook;
  /** One entry for each credential, so that an upstream may occur several times. */
  readonly upstreams: readonly Upstream[];
  /** The same table with these discovered models instead of its own. */
  readonly withDiscovered: (discovered: DiscoveredModels) => RoutingTable;
};

export type RoutingOptions = {
  readonly upstreams: readonly Upstream[];
  readonly models: readonly ConfiguredModel[];
  readonly priceBook: PriceBook;
  readonly configuredAtMs: number;
  readonly discovered?: DiscoveredModels;
  /** The timeouts of targets that the configuration does not name. */
  readonly timeoutsOf?: TimeoutRule;
};

/**
 * The route of a model that the configuration does not name, at the upstreams that serve it, in their order. The
 * credentials of an upstream share its calls.
 */
function createUnnamedRoute(upstreams: readonly Upstream[], upstreamModel: string, timeoutsOf: TimeoutRule | undefined): Route {
  const ids = [...new Set(upstreams.map(({ id }) => id))];
  const targets = upstreams.map((upstream): Target => {
    const timeouts = timeoutsOf?.(upstream, upstreamModel);
    const at = upstreamAt(upstream, upstreamModel, undefined);
    return { upstream: at, upstreamModel, priority: ids.indexOf(upstream.id) + 1, ...(timeouts === undefined ? {} : { timeouts }) };
  });
  return createRoute({ targets });
}

/** `models/gemini-x` is the same model as `gemini-x`. */
function plainName(model: string): string {
  return model.startsWith('models/') ? model.slice('models/'.length) : model;
}

/** The discovered models by name. If several upstreams serve a name, the first of the configuration comes first. */
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

/**
 * An entry whose name ends in `*` matches every name with that beginning. Longer beginnings come first, so that the
 * closest entry wins.
 */
function compilePatterns(models: readonly ConfiguredModel[]): (name: string) => Route | undefined {
  const patterns = models
    .filter((model) => model.name.endsWith('*'))
    .map((model) => ({ ...model, prefix: model.name.slice(0, -1) }))
    .toSorted((first, second) => second.prefix.length - first.prefix.length);
  return (name) => {
    const found = patterns.find(({ prefix }) => name.startsWith(prefix));
    if (found === undefined) return undefined;
    // A target without a model name of its own receives the name that the client used.
    const targets = found.targets.map((target) =>
      target.upstreamModel === found.name
        ? { ...target, upstreamModel: name, upstream: upstreamAt(target.upstream, name, target.is) }
        : target,
    );
    return createRoute({ ...found, targets });
  };
}

/**
 * A cache of routes that are computed from a name. Callers choose the names, so their number and length are bounded.
 */
const rememberedRoutesMax = 1000;
const rememberedNameCharactersMax = 256;

function rememberRoutes(find: (requestedModel: string) => Route | undefined): (requestedModel: string) => Route | undefined {
  const remembered = new Map<string, Route>();
  return (requestedModel) => {
    const cached = remembered.get(requestedModel);
    if (cached !== undefined) return cached;
    const route = find(requestedModel);
    if (route === undefined || requestedModel.length > rememberedNameCharactersMax) return route;
    if (remembered.size >= rememberedRoutesMax) remembered.clear();
    remembered.set(requestedModel, route);
    return route;
  };
}

/**
 * Builds the table of one configuration. A name means the model that the configuration gives it, exactly or by its
 * beginning; otherwise the one that a price book lists; otherwise one that was discovered at an upstream. A server can
 * therefore never take over a name of the operator or of a vendor.
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
    // Price books list chat models of vendors. Models of a compatible server are named in the configuration or
    // discovered.
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
