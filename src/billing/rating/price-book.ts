import { createHash } from 'node:crypto';
import { inOnePiece } from '../../platform/json/in-one-piece.ts';
import { countInput, findStandalone, meters } from '../../inference/meters.ts';
import type { Usage } from '../../inference/usage.ts';
import type { Charge, ChargeLine } from '../ledger/call-entry.ts';
import { boundCost, highestCost } from './bound-cost.ts';
import { chargeLines, evaluateCondition, serviceTierMultiplier } from './charge-lines.ts';
import { scopeOfCall } from './expressions/compile-expression.ts';
import type { ExpressionScope } from './expressions/evaluate-expression.ts';
import { isDecimal } from './decimal.ts';
import { PriceBookError } from './parse-price-book.ts';
import type { PriceBasis } from './price-basis.ts';
import type { PriceBookEntry } from './price-book-schema.ts';
import { factorProblems, factorsOf, type PriceFactors } from './price-factors.ts';
import { createOverrideFinder, overrideProblems } from './price-override.ts';
import { isUsed } from './media-lines.ts';
import { createPriceWindows, startOfDayMs } from './price-windows.ts';
import type { Pricing } from './pricing.ts';
import type { CreditUnit, PriceBook, PricedCall, PricedModel, RatedCall } from './rating.ts';
import { recomputeAmount } from './recompute-amount.ts';
import { tokenLines } from './token-lines.ts';
import { rateTools, type ToolPrices } from './tool-prices.ts';

export type { PriceOverride } from './price-override.ts';

const noFactors: PriceFactors = {};
const noPointers: readonly string[] = [];

/**
 * Prices of a parsed book, with the operator's overrides on top. Immutable. The version names the book and has a hash
 * of all content, so that a changed price gives another version. Throws PriceBookError with every invalid override,
 * factor and tool price.
 */
export function createPriceBook({
  book,
  overrides = [],
  toolPrices,
  factors = noFactors,
  unlisted = 'free',
  credits,
}: PriceBasis & { readonly unlisted?: PriceBook['unlisted']; readonly credits?: CreditUnit }): PriceBook {
  const problems = [...overrideProblems(overrides), ...toolPriceProblems(toolPrices ?? {}), ...factorProblems(factors)];
  if (problems.length > 0) throw new PriceBookError(problems);
  const windows = createPriceWindows(book.entries);
  const findOverride = createOverrideFinder(overrides);
  const payerOf = createPayerFactors(factors);
  const find = ({ vendor, upstreamModel, requestedModel, acceptedAtMs }: PricedCall): readonly Pricing[] | undefined => {
    const listed = windows.find(vendor, upstreamModel, acceptedAtMs);
    return findOverride(requestedModel, listed) ?? listed;
  };
  const rate = (call: RatedCall): Charge => {
    const pricings = find(call);
    return pricings === undefined ? { amountNanoUsd: 0n, lines: [] } : chargeCall(call, pricings, payerOf(call));
  };
  const hasFactors = factors.users !== undefined || factors.keys !== undefined;
  return {
    version: inOnePiece(`${book.version}+${contentHash({ book, overrides, toolPrices, ...(hasFactors ? { factors } : {}) })}`),
    unlisted,
    ...(credits === undefined ? {} : { credits }),
    models: (vendor) => listModels(book.entries, vendor),
    lists: windows.lists,
    prices: (call, uses) => {
      const pricings = find(call);
      return pricings !== undefined && (uses === undefined || pricings.some((pricing) => pricesUse(pricing, uses)));
    },
    parametersOf: (call) => pointersOf(find(call)),
    rateTools: (usage, payer = {}) => rateTools(usage, toolPrices ?? {}, payerOf(payer)),
    rate,
    bound: (call) => boundCost(call, find(call), payerOf(call), rate),
    most: (call) => highestCost(call, find(call), payerOf(call)),
  };
}

/**
 * Whether the usage has a price. Tokens need none if the model is billed by other meters. A price per call, or a
 * computed one, covers any usage.
 */
function pricesUse({ tiers, media, fees, lines }: Pricing, uses: Usage): boolean {
  if (fees?.call !== undefined || lines.length > 0) return true;
  const alone = findStandalone(uses);
  return alone === undefined ? tiers.length > 0 : media?.[meters[alone].price] !== undefined;
}

function createPayerFactors(factors: PriceFactors): (payer: Pick<RatedCall, 'userName' | 'keyId'>) => ChargeLine['multipliers'] {
  return factors.users === undefined && factors.keys === undefined ? () => undefined : (payer) => factorsOf(factors, payer);
}

/** Charges a call with the first of these prices whose condition is true. */
function chargeCall(call: RatedCall, pricings: readonly Pricing[], payer: ChargeLine['multipliers']): Charge {
  let cached: ExpressionScope | undefined;
  const scope = (): ExpressionScope => (cached ??= scopeOfCall(call));
  const pricing = pricings.find(({ when }) => when === undefined || evaluateCondition(when, scope()).mayBeTrue);
  if (pricing === undefined) return { amountNanoUsd: 0n, lines: [] };
  const { usage, pricingParameters: parameters } = call;
  const basis = { usage, parameters, payer, scope, serviceTier: serviceTierMultiplier(pricing, call.serviceTier) };
  const lines = chargeLines(pricing, basis, (multipliers) => {
    const prices = findTier(pricing, call);
    return prices === undefined ? [] : tokenLines(usage, prices, multipliers);
  });
  // The price of another meter does not price this call.
  if (lines.length === 0 && isUsed(usage) && !pricesUse(pricing, usage)) return { amountNanoUsd: 0n, lines };
  return { amountNanoUsd: recomputeAmount(lines), lines, priceId: pricing.priceId };
}

/** The prices of the last tier whose bound is below the total input; undefined if nothing is billed in tokens. */
function findTier({ tiers }: Pricing, { usage }: RatedCall): Pricing['tiers'][number]['prices'] | undefined {
  if (tiers.length < 2) return tiers[0]?.prices;
  const total = countInput(usage);
  return tiers.findLast(({ inputAbove }, index) => index === 0 || total > inputAbove)?.prices;
}

/** All pointers that the book reads from a request for this model, whichever of its prices applies. */
function pointersOf(pricings: readonly Pricing[] | undefined): readonly string[] {
  const [first, ...others] = pricings ?? [];
  if (first === undefined) return noPointers;
  return others.length === 0 ? first.pointers : [...new Set([first, ...others].flatMap(({ pointers }) => pointers))];
}

function listModels(entries: readonly PriceBookEntry[], vendor: string): PricedModel[] {
  const models = new Map<string, PricedModel>();
  for (const entry of entries) {
    if (entry.vendor !== vendor) continue;
    const releasedAtMs = startOfDayMs(entry.released ?? entry.effectiveFrom);
    const existing = models.get(entry.model);
    if (existing !== undefined && existing.releasedAtMs <= releasedAtMs) continue;
    models.set(entry.model, { vendor, model: entry.model, displayName: entry.displayName, releasedAtMs });
  }
  return [...models.values()];
}

function toolPriceProblems(prices: ToolPrices): string[] {
  return Object.entries(prices)
    .filter(([, price]) => !isDecimal(price))
    .map(([tool, price]) => `The price of the tool ${tool} must be a decimal such as "0.01"; got "${price.slice(0, 32)}".`);
}

function contentHash(content: unknown): string {
  return createHash('sha256').update(JSON.stringify(content)).digest('hex').slice(0, 8);
}
