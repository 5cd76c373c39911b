import { mediaMeters, meters } from '../../inference/meters.ts';
import { inOnePiece } from '../../platform/json/in-one-piece.ts';
import { isDecimal } from './decimal.ts';
import type { Fees, MediaPrices, TokenPrices } from './price-book-schema.ts';
import { type Pricing, type PricingTier, prepareTier } from './pricing.ts';

/**
 * The operator's own price of a model, by the name in requests. USD per 1,000,000 tokens as decimal strings, and per
 * unit of other meters.
 */
export type PriceOverride = {
  /** The requested model, matched exactly, or the beginning of its name and `*`. */
  readonly model: string;
  /** Set together with `output`, or neither: then the vendor's list prices tokens. */
  readonly input?: string;
  readonly output?: string;
  readonly cacheRead?: string;
  readonly cacheWrite5m?: string;
  readonly cacheWrite1h?: string;
  readonly inputAudio?: string;
  /** USD per web search. Absent: the vendor's list prices searches. */
  readonly webSearch?: string;
} & MediaPrices;

/** An override in use. Meters without a price in it have the vendor's list price. */
type PreparedOverride = {
  readonly priceId: string;
  readonly tiers: readonly PricingTier[] | undefined;
  readonly media: MediaPrices | undefined;
  readonly fees: Fees | undefined;
};

const mediaPriceNames: ReadonlySet<string> = new Set(mediaMeters.map((meter) => meters[meter].price));

function prepareOverride(override: PriceOverride): PreparedOverride {
  const { model, webSearch, input, output, ...others } = override;
  const isMedia = ([member]: [string, unknown]): boolean => mediaPriceNames.has(member);
  // The members are those of the two types.
  const media = Object.fromEntries(Object.entries(others).filter((entry) => isMedia(entry))) as MediaPrices;
  const rest = Object.fromEntries(Object.entries(others).filter((entry) => !isMedia(entry))) as Omit<TokenPrices, 'input' | 'output'>;
  const prices: TokenPrices | undefined = input === undefined || output === undefined ? undefined : { input, output, ...rest };
  return {
    priceId: inOnePiece(`override/${model}`),
    tiers: prices === undefined ? undefined : [prepareTier(0, prices)],
    media: Object.keys(media).length === 0 ? undefined : media,
    fees: webSearch === undefined ? undefined : { web_search: webSearch },
  };
}

/** The override on top of the list price, if the model is listed: without its service tiers and multipliers. */
function applyOverride({ priceId, tiers, media, fees }: PreparedOverride, listed: Pricing | undefined): Pricing {
  const { web_search: _search, grounded_prompt: _grounded, ...otherFees } = listed?.fees ?? {};
  return {
    priceId,
    when: listed?.when,
    tiers: tiers ?? listed?.tiers ?? [],
    media: media === undefined ? listed?.media : { ...listed?.media, ...media },
    fees: fees === undefined ? listed?.fees : { ...otherFees, ...fees },
    serviceTiers: undefined,
    multipliers: [],
    lines: listed?.lines ?? [],
    pointers: listed?.pointers ?? [],
  };
}

const unlisted: readonly undefined[] = [undefined];

/** Finds the prices of a requested model with an override: the override on top of its list prices. */
export type OverrideFinder = (requestedModel: string, listed: readonly Pricing[] | undefined) => readonly Pricing[] | undefined;

/**
 * Overrides are matched as routing matches its entries: by name, with or without `models/` before it, else by the
 * longest prefix that ends in `*`.
 */
export function createOverrideFinder(overrides: readonly PriceOverride[]): OverrideFinder {
  const exact = new Map(overrides.map((override) => [override.model, rememberApplied(prepareOverride(override))]));
  const patterns = [...exact]
    .filter(([model]) => model.endsWith('*'))
    .map(([model, apply]) => ({ prefix: model.slice(0, -1), apply }))
    .toSorted((first, second) => second.prefix.length - first.prefix.length);
  return (requestedModel, listed) => {
    if (exact.size === 0) return undefined;
    const name = requestedModel.startsWith('models/') ? requestedModel.slice('models/'.length) : requestedModel;
    const apply = exact.get(requestedModel) ?? exact.get(name) ?? patterns.find(({ prefix }) => name.startsWith(prefix))?.apply;
    return apply?.(listed);
  };
}

/** There is one list per window of the book, so the cache is bounded. */
function rememberApplied(override: PreparedOverride): (listed: readonly Pricing[] | undefined) => readonly Pricing[] {
  const cached = new Map<readonly Pricing[] | undefined, readonly Pricing[]>();
  return (listed) => {
    const found = cached.get(listed);
    if (found !== undefined) return found;
    const applied = (listed ?? unlisted).map((pricing) => applyOverride(override, pricing));
    cached.set(listed, applied);
    return applied;
  };
}

/** The problems of overrides, each with its model. */
export function overrideProblems(overrides: readonly PriceOverride[]): string[] {
  const seen = new Set<string>();
  return overrides.flatMap(({ model, videoSecond, ...prices }) => {
    const seconds = Object.entries(videoSecond ?? {}).map(([resolution, price]) => [`videoSecond.${resolution}`, price] as const);
    const problems = [...Object.entries(prices), ...seconds]
      .filter(([, price]) => !isDecimal(price))
      .map(([meter, price]) => `The price override of ${model}: ${meter} must be a decimal such as "2.5"; got "${price.slice(0, 32)}".`);
    if ((prices.input === undefined) !== (prices.output === undefined))
      problems.push(`The price override of ${model}: input and output must both be set, and one of them is missing.`);
    if (seen.has(model)) problems.push(`The price override of ${model} is set twice.`);
    seen.add(model);
    return problems;
  });
}
