import type { ListedModel, DialectId } from '../../dialects/chat-dialect.ts';
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
  readonly dialects: readonly DialectId[];
  /** Tells which client headers pass besides the vendor's own list. */
  readonly passesRequestHeader: (name: string) => boolean;
  readonly passesReplyHeader: (name: string) => boolean;
  readonly acceptsStreamOptions: boolean;
  readonly client: UpstreamClient;
};

/** An upstream and the name that the model has there. */
export type Target = { readonly upstream: Upstream; readonly upstreamModel: string };

/** A model that the configuration names. */
export type ConfiguredModel = { readonly name: string; readonly targets: readonly Target[] };

/** Where each model goes: everything that a configuration decides, as one immutable value that a reload replaces. */
export type RoutingTable = {
  /** The targets of a model, first choice first; empty when no target knows it. */
  readonly targetsOf: (requestedModel: string) => readonly Target[];
  readonly models: readonly ListedModel[];
  readonly priceBook: PriceBook;
  readonly upstreams: readonly Upstream[];
};

/** Price books list chat models only for vendors that make models; a compatible server's models must be named in the configuration. */
function listedTargets(upstreams: readonly Upstream[], priceBook: PriceBook, model: string): readonly Target[] {
  return upstreams.filter((upstream) => priceBook.lists(upstream.vendor.id, model)).map((upstream) => ({ upstream, upstreamModel: model }));
}

/** `models/gemini-x` is the same model as `gemini-x`. */
function plainName(model: string): string {
  return model.startsWith('models/') ? model.slice('models/'.length) : model;
}

/** Builds the table of one configuration. */
export function createRoutingTable(options: {
  readonly upstreams: readonly Upstream[];
  readonly models: readonly ConfiguredModel[];
  readonly priceBook: PriceBook;
  readonly configuredAtMs: number;
}): RoutingTable {
  const { upstreams, priceBook } = options;
  const configured = new Map(options.models.map((model) => [model.name, model.targets]));
  return {
    targetsOf: (requestedModel) => {
      const name = plainName(requestedModel);
      return configured.get(requestedModel) ?? configured.get(name) ?? listedTargets(upstreams, priceBook, name);
    },
    models: listModels(upstreams, options.models, priceBook, options.configuredAtMs),
    priceBook,
    upstreams,
  };
}

function listModels(
  upstreams: readonly Upstream[],
  configured: readonly ConfiguredModel[],
  priceBook: PriceBook,
  configuredAtMs: number,
): readonly ListedModel[] {
  const models = new Map<string, ListedModel>();
  for (const model of configured) {
    const ownedBy = model.targets[0]?.upstream.vendor.id ?? 'weir';
    models.set(model.name, { id: model.name, displayName: model.name, createdAtMs: configuredAtMs, ownedBy });
  }
  for (const vendor of new Set(upstreams.map((upstream) => upstream.vendor.id))) {
    for (const priced of priceBook.models(vendor)) {
      if (models.has(priced.model)) continue;
      models.set(priced.model, { id: priced.model, displayName: priced.displayName, createdAtMs: priced.releasedAtMs, ownedBy: vendor });
    }
  }
  return [...models.values()];
}
