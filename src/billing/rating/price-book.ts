import { createHash } from 'node:crypto';
import type { Usage } from '../../inference/usage.ts';
import type { Charge, ChargeLine } from '../ledger/call-entry.ts';
import { isDecimal } from './decimal.ts';
import { modelSpellings } from './model-spellings.ts';
import { PriceBookError } from './parse-price-book.ts';
import type { MediaPrices, PriceBookData, PriceBookEntry, TokenPrices } from './parse-price-book.ts';
import type { PriceBook, PricedModel, RatedCall } from './rating.ts';
import { boundCost } from './bound-cost.ts';
import { recomputeAmount } from './recompute-amount.ts';
import { mediaLines } from './media-lines.ts';
import { tokenLines } from './token-lines.ts';
import { rateTools, type ToolPrices } from './tool-prices.ts';

/** The operator's own price of a model under the name that clients ask for. USD per 1,000,000 tokens as decimal strings. */
export type PriceOverride = {
  /** The requested model, matched exactly. */
  readonly model: string;
  /** Given together with `output`, or neither: then the vendor's list prices tokens. */
  readonly input?: string;
  readonly output?: string;
  readonly cacheRead?: string;
  readonly cacheWrite5m?: string;
  readonly cacheWrite1h?: string;
  readonly inputAudio?: string;
  /** USD per web search. Absent: the vendor's list prices searches. */
  readonly webSearch?: string;
  /** USD per 1,000,000 characters read out, per minute of sound, per picture, and per second of video by its resolution. */
  readonly characters?: string;
  readonly audioMinute?: string;
  readonly inputImage?: string;
  readonly videoSecond?: Readonly<Record<string, string>>;
};

/** Models whose windows are remembered, listed or not. */
const foundMax = 1000;

/** One model's windows, newest first, so that the first that has begun is the one that holds. */
type Window = { readonly effectiveFromMs: number; readonly priceId: string; readonly entry: PriceBookEntry };

/**
 * Prices of a parsed book, with the operator's overrides on top. Immutable. The version names the book and carries a hash of all
 * content, so that a changed price is another version. Throws PriceBookError that names every faulty override.
 */
export function createPriceBook({
  book,
  overrides = [],
  toolPrices,
}: {
  readonly book: PriceBookData;
  readonly overrides?: readonly PriceOverride[];
  readonly toolPrices?: ToolPrices;
}): PriceBook {
  const problems = [...overrideProblems(overrides), ...toolPriceProblems(toolPrices ?? {})];
  if (problems.length > 0) throw new PriceBookError(problems);
  const find = createFinder(indexWindows(book.entries));
  const findOwn = createOverrideFinder(overrides);
  const rate = (call: RatedCall): Charge => {
    const window = find(call.vendor, call.upstreamModel)?.find(({ effectiveFromMs }) => effectiveFromMs <= call.acceptedAtMs);
    const override = findOwn(call.requestedModel);
    if (override !== undefined) return chargeOf(overrideLines(call, override, window?.entry), override.priceId);
    if (window !== undefined) return chargeOf(listLines(call, window.entry), window.priceId);
    return { amountNanoUsd: 0n, lines: [] };
  };
  return {
    version: `${book.version}+${contentHash({ book, overrides, toolPrices })}`,
    models: (vendor) => listModels(book.entries, vendor),
    lists: (vendor, model) => find(vendor, model) !== undefined,
    rateTools: (usage) => rateTools(usage, toolPrices ?? {}),
    rate,
    bound: (call) => boundCost(rate, call),
  };
}

/** Finds the override of a model as routing finds its entry: by its name, with `models/` before it or not, else by the nearest beginning that ends in `*`. */
function createOverrideFinder(
  overrides: readonly PriceOverride[],
): (requestedModel: string) => ReturnType<typeof prepareOverride> | undefined {
  const exact = new Map(overrides.map((override) => [override.model, prepareOverride(override)]));
  const patterns = [...exact]
    .filter(([model]) => model.endsWith('*'))
    .map(([model, prepared]) => ({ prefix: model.slice(0, -1), prepared }))
    .toSorted((first, second) => second.prefix.length - first.prefix.length);
  return (requestedModel) => {
    const known = exact.get(requestedModel);
    if (known !== undefined || exact.size === 0) return known;
    const name = requestedModel.startsWith('models/') ? requestedModel.slice('models/'.length) : requestedModel;
    return exact.get(name) ?? patterns.find(({ prefix }) => name.startsWith(prefix))?.prepared;
  };
}

function chargeOf(lines: readonly ChargeLine[], priceId: string): Charge {
  return { amountNanoUsd: recomputeAmount(lines), lines, priceId };
}

function listLines(call: RatedCall, entry: PriceBookEntry): ChargeLine[] {
  const serviceTier = call.serviceTier?.toLowerCase() ?? '';
  const multiplier = Object.hasOwn(entry.serviceTiers ?? {}, serviceTier) ? entry.serviceTiers?.[serviceTier] : undefined;
  const multipliers = multiplier === undefined ? undefined : { [`service_tier:${serviceTier}`]: multiplier };
  const lines = listTokenLines(call, entry, multipliers);
  if (entry.media !== undefined) lines.push(...mediaLines(call.usage, call.pricingParameters, entry.media));
  return withFees(lines, call.usage, entry.fees);
}

function listTokenLines({ usage }: RatedCall, entry: PriceBookEntry, multipliers: ChargeLine['multipliers']): ChargeLine[] {
  return entry.tiers === undefined ? [] : tokenLines(usage, tierPrices(entry, usage), multipliers);
}

/** An override as it is used. What it has no price for, the vendor's list prices. */
type PreparedOverride = {
  readonly priceId: string;
  readonly prices?: TokenPrices;
  readonly media?: MediaPrices;
  readonly fees?: PriceBookEntry['fees'];
};

function prepareOverride(override: PriceOverride): PreparedOverride {
  const { model, webSearch, characters, audioMinute, inputImage, videoSecond, input, output, ...rest } = override;
  const media = Object.fromEntries(
    Object.entries({ characters, audioMinute, inputImage, videoSecond }).filter(([, price]) => price !== undefined),
  ) as MediaPrices;
  return {
    priceId: `override/${model}`,
    ...(input === undefined || output === undefined ? {} : { prices: { input, output, ...rest } }),
    ...(Object.keys(media).length === 0 ? {} : { media }),
    ...(webSearch === undefined ? {} : { fees: { web_search: webSearch } }),
  };
}

function overrideLines(call: RatedCall, override: PreparedOverride, entry: PriceBookEntry | undefined): ChargeLine[] {
  const { usage, pricingParameters } = call;
  const lines = override.prices === undefined ? [] : tokenLines(usage, override.prices, undefined);
  if (override.prices === undefined && entry !== undefined) lines.push(...listTokenLines(call, entry, undefined));
  const media = { ...entry?.media, ...override.media };
  lines.push(...mediaLines(usage, pricingParameters, media));
  return withFees(lines, usage, override.fees ?? entry?.fees);
}

/** The last tier whose bound lies below the total input, cache included. Summed in integers, because four counts may exceed 2^53. */
function tierPrices(entry: PriceBookEntry, usage: Usage): TokenPrices {
  const counts = [usage.inputTokens, usage.cacheReadTokens, usage.cacheWrite5mTokens, usage.cacheWrite1hTokens];
  const totalInput = counts.reduce((sum, tokens) => sum + BigInt(tokens ?? 0), 0n);
  const tier = entry.tiers?.findLast(({ inputAbove }, index) => index === 0 || totalInput > BigInt(inputAbove));
  if (tier === undefined) throw new Error(`${entry.vendor}/${entry.model} has no tiers.`);
  return tier.prices;
}

/** The lines of the tokens with those of the fees after them. */
function withFees(lines: ChargeLine[], usage: Usage, fees: PriceBookEntry['fees']): ChargeLine[] {
  const searches = usage.webSearches ?? 0;
  if (searches === 0 || fees === undefined) return lines;
  if (fees.web_search !== undefined) lines.push({ meter: 'web_search', quantity: searches, unitPrice: fees.web_search, per: 1 });
  if (fees.grounded_prompt !== undefined) lines.push({ meter: 'grounded_prompt', quantity: 1, unitPrice: fees.grounded_prompt, per: 1 });
  return lines;
}

/** Finds a model's windows by all its spellings, and remembers what it found for the models that are called. */
function createFinder(windows: ReadonlyMap<string, readonly Window[]>): (vendor: string, model: string) => readonly Window[] | undefined {
  const found = new Map<string, readonly Window[] | undefined>();
  return (vendor, model) => {
    const key = windowKey(vendor, model);
    if (found.has(key)) return found.get(key);
    const known = findWindows(windows, vendor, model);
    // Names come from clients: the bound keeps odd ones from filling memory.
    if (found.size < foundMax) found.set(key, known);
    return known;
  };
}

function indexWindows(entries: readonly PriceBookEntry[]): ReadonlyMap<string, readonly Window[]> {
  const windows = new Map<string, Window[]>();
  for (const entry of entries) {
    const window = {
      effectiveFromMs: startOfDayMs(entry.effectiveFrom),
      priceId: `${entry.vendor}/${entry.model}@${entry.effectiveFrom}`,
      entry,
    };
    for (const spelling of new Set([entry.model, ...(entry.aliases ?? [])])) {
      const key = windowKey(entry.vendor, spelling);
      windows.set(key, [...(windows.get(key) ?? []), window]);
    }
  }
  for (const list of windows.values()) list.sort((one, other) => other.effectiveFromMs - one.effectiveFromMs);
  return windows;
}

function findWindows(windows: ReadonlyMap<string, readonly Window[]>, vendor: string, model: string): readonly Window[] | undefined {
  for (const spelling of modelSpellings(model)) {
    const found = windows.get(windowKey(vendor, spelling));
    if (found !== undefined) return found;
  }
  return undefined;
}

function windowKey(vendor: string, model: string): string {
  return `${vendor}\n${model}`;
}

function listModels(entries: readonly PriceBookEntry[], vendor: string): PricedModel[] {
  const models = new Map<string, PricedModel>();
  for (const entry of entries) {
    if (entry.vendor !== vendor) continue;
    const releasedAtMs = startOfDayMs(entry.released ?? entry.effectiveFrom);
    const known = models.get(entry.model);
    if (known !== undefined && known.releasedAtMs <= releasedAtMs) continue;
    models.set(entry.model, { vendor, model: entry.model, displayName: entry.displayName, releasedAtMs });
  }
  return [...models.values()];
}

function startOfDayMs(date: string): number {
  return Date.parse(`${date}T00:00:00Z`);
}

function overrideProblems(overrides: readonly PriceOverride[]): string[] {
  const seen = new Set<string>();
  return overrides.flatMap(({ model, videoSecond, ...prices }) => {
    const seconds = Object.entries(videoSecond ?? {}).map(([resolution, price]) => [`videoSecond.${resolution}`, price] as const);
    const problems = [...Object.entries(prices), ...seconds]
      .filter(([, price]) => !isDecimal(price))
      .map(([meter, price]) => `The price override of ${model}: ${meter} must be a decimal such as "2.5", not "${price.slice(0, 32)}".`);
    if ((prices.input === undefined) !== (prices.output === undefined))
      problems.push(`The price override of ${model}: input and output go together, and one of them is missing.`);
    if (seen.has(model)) problems.push(`The price override of ${model} is given twice.`);
    seen.add(model);
    return problems;
  });
}

function toolPriceProblems(prices: ToolPrices): string[] {
  return Object.entries(prices)
    .filter(([, price]) => !isDecimal(price))
    .map(([tool, price]) => `The price of the tool ${tool} must be a decimal such as "0.01", not "${price.slice(0, 32)}".`);
}

function contentHash(content: unknown): string {
  return createHash('sha256').update(JSON.stringify(content)).digest('hex').slice(0, 8);
}
