import type { RateLimits } from '../../accounts/access-limits.ts';
import type { ListedModel, DialectId } from '../../dialects/chat-dialect.ts';
import type { ModelTraits } from '../../inference/model-traits.ts';
import type { UpstreamClient } from '../../platform/http/upstream-client.ts';
import type { PriceBook } from '../../billing/rating/rating.ts';
import type { UpstreamVendor } from '../../upstreams/upstream-vendor.ts';

/** One configured upstream: a vendor account or model server. */
export type Upstream = {
  readonly id: string;
  readonly vendor: UpstreamVendor;
  /** Path part of the base address, without a trailing slash. */
  readonly basePath: string;
  readonly apiKey: string | undefined;
  /** Names the credential without telling it. */
  readonly credentialId: string;
  readonly dialects: readonly DialectId[];
  /** Tells which client headers pass besides the vendor's own list. */
  readonly passesRequestHeader: (name: string) => boolean;
  /** The same for a call that is translated: headers of the client's own vendor mean nothing to this one. */
  readonly passesForeignHeader: (name: string) => boolean;
  readonly passesReplyHeader: (name: string) => boolean;
  readonly acceptsStreamOptions: boolean;
  /** What a model accepts here, by its name here: the vendor's facts with the operator's quirks over them. */
  readonly traitsOf: (upstreamModel: string) => ModelTraits;
  /** Whose proofs of reasoning this upstream makes and accepts. Equal at two upstreams exactly if one takes the other's. */
  readonly proofOrigin: string;
  readonly client: UpstreamClient;
};

/** An upstream and the name that the model has there. */
export type Target = {
  readonly upstream: Upstream;
  readonly upstreamModel: string;
  /** The model of the configuration that this is a target of, where it has limits: what all its callers may use together. */
  readonly model?: { readonly name: string; readonly limits: RateLimits };
};

/** A model that the configuration names. */
export type ConfiguredModel = { readonly name: string; readonly targets: readonly Target[] };

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
  /** The targets of a model, first choice first; empty when no target knows it. */
  readonly targetsOf: (requestedModel: string) => readonly Target[];
  readonly models: readonly ListedModel[];
  readonly priceBook: PriceBook;
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
};

/** Price books list chat models for vendors that make models; those of a compatible server are named in the configuration or discovered. */
function listedTargets(upstreams: readonly Upstream[], priceBook: PriceBook, model: string): readonly Target[] {
  return upstreams.filter((upstream) => priceBook.lists(upstream.vendor.id, model)).map((upstream) => ({ upstream, upstreamModel: model }));
}

/** `models/gemini-x` is the same model as `gemini-x`. */
function plainName(model: string): string {
  return model.startsWith('models/') ? model.slice('models/'.length) : model;
}

/** The discovered models by name. Several upstreams may have one of the same name: the first of the configuration is the first choice. */
function discoveredTargets(options: RoutingOptions): ReadonlyMap<string, readonly Target[]> {
  const found = new Map<string, Target[]>();
  for (const upstream of options.upstreams) {
    for (const { name } of options.discovered?.get(upstream.id) ?? []) {
      const targets = found.get(name) ?? [];
      targets.push({ upstream, upstreamModel: name });
      found.set(name, targets);
    }
  }
  return found;
}

/** Entries whose name ends in `*` stand for every name that begins so. Longer beginnings come first, so that the nearest entry wins. */
function compilePatterns(models: readonly ConfiguredModel[]): (name: string) => readonly Target[] | undefined {
  const patterns = models
    .filter((model) => model.name.endsWith('*'))
    .map(({ name, targets }) => ({ name, prefix: name.slice(0, -1), targets }))
    .toSorted((first, second) => second.prefix.length - first.prefix.length);
  return (name) => {
    const found = patterns.find(({ prefix }) => name.startsWith(prefix));
    // A target without a name of its own is asked for the model by the name that the client used.
    return found?.targets.map((target) => (target.upstreamModel === found.name ? { ...target, upstreamModel: name } : target));
  };
}

/**
 * Builds the table of one configuration. A name means the model that the configuration gives it, by itself or by its beginning, else the one that a price book lists under it, else
 * one that an upstream was discovered to serve: what a server says can never take a name away from what an operator or a vendor has set.
 */
export function createRoutingTable(options: RoutingOptions): RoutingTable {
  const { upstreams, priceBook } = options;
  const configured = new Map(options.models.map((model) => [model.name, model.targets]));
  const matchPattern = compilePatterns(options.models);
  const discovered = discoveredTargets(options);
  return {
    targetsOf: (requestedModel) => {
      const name = plainName(requestedModel);
      const named = configured.get(requestedModel) ?? configured.get(name) ?? matchPattern(name);
      if (named !== undefined) return named;
      const listed = listedTargets(upstreams, priceBook, name);
      return listed.length > 0 ? listed : (discovered.get(requestedModel) ?? discovered.get(name) ?? []);
    },
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
