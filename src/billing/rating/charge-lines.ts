import type { PricingParameters, Usage } from '../../inference/usage.ts';
import type { ChargeLine } from '../ledger/call-entry.ts';
import type { Fraction } from './decimal.ts';
import type { ExpressionScope } from './expressions/evaluate-expression.ts';
import type { Expression } from './expressions/compile-expression.ts';
import { isTrue, toNumber, type Truth } from './expressions/expression-value.ts';
import { ceil, fractionOf, larger, smaller, writeDecimal } from './fraction.ts';
import { feeLines, isMoreExpensive, isUsed, mediaLines } from './media-lines.ts';
import type { Pricing } from './pricing.ts';

type Multipliers = ChargeLine['multipliers'];

/** The input of a charge besides the prices. */
export type ChargeBasis = {
  readonly usage: Usage;
  readonly parameters: PricingParameters | undefined;
  /** The multiplier of the service tier, with its name. */
  readonly serviceTier: Multipliers;
  /** The multipliers of the payer. */
  readonly payer: Multipliers;
  /** The scope of expressions. Called only if there are expressions. */
  readonly scope: () => ExpressionScope;
};

const one = fractionOf(1);
const factorMax = fractionOf(1_000_000);
const quantityMax = fractionOf(1_000_000_000);

/** Whether a condition is true, as far as is known. */
export function evaluateCondition(when: Expression | undefined, scope: ExpressionScope): Truth {
  if (when === undefined) return isTrue;
  const value = when.evaluate(scope);
  if (value.is !== 'boolean') throw new TypeError(`"${when.text}" is not a condition.`);
  return value;
}

/** The highest value of an expression; its exact value if everything is known. */
function mostOf({ text, evaluate }: Expression, scope: ExpressionScope): Fraction {
  const number = toNumber(evaluate(scope));
  if (number.is !== 'number') throw new TypeError(`"${text}" is not a number.`);
  return number.high;
}

/**
 * All lines of a charge: tokens, media, fees, then the lines of expressions. An unknown value counts with its highest
 * value, so the same computation gives the charge of a finished call and the bound of a planned one.
 * @param tokens returns the lines of the tokens with these multipliers: only these differ between a bound and a charge
 */
export function chargeLines(pricing: Pricing, basis: ChargeBasis, tokens: (multipliers: Multipliers) => ChargeLine[]): ChargeLine[] {
  const { usage, parameters, payer } = basis;
  const ofAll = pricing.multipliers.length === 0 ? undefined : expressionMultipliers(pricing, basis, 'all');
  const ofTokens = pricing.multipliers.length === 0 ? undefined : expressionMultipliers(pricing, basis, 'tokens');
  const others = merge(ofAll, payer);
  const lines = tokens(merge(merge(basis.serviceTier, ofTokens), others));
  if (pricing.media !== undefined) lines.push(...mediaLines(usage, parameters, pricing.media, others));
  if (pricing.fees !== undefined) lines.push(...feeLines(usage, pricing.fees, others));
  if (pricing.lines.length > 0 && isUsed(usage)) lines.push(...expressionLines(pricing, basis.scope(), others));
  return lines;
}

function merge(first: Multipliers, second: Multipliers): Multipliers {
  if (first === undefined) return second;
  return second === undefined ? first : { ...first, ...second };
}

function expressionMultipliers(pricing: Pricing, basis: ChargeBasis, of: 'tokens' | 'all'): Multipliers {
  const scope = basis.scope();
  const found: Record<string, string> = {};
  for (const { name, when, factor, of: what } of pricing.multipliers) {
    if (what !== of) continue;
    const { mayBeTrue, mayBeFalse } = evaluateCondition(when, scope);
    if (!mayBeTrue) continue;
    const most = smaller(mostOf(factor, scope), factorMax);
    found[name] = writeDecimal(mayBeFalse ? larger(most, one) : most);
  }
  return Object.keys(found).length === 0 ? undefined : found;
}

function expressionLines({ lines }: Pricing, scope: ExpressionScope, multipliers: Multipliers): ChargeLine[] {
  return lines.flatMap(({ meter, when, quantity, price, per }) => {
    if (!evaluateCondition(when, scope).mayBeTrue) return [];
    const units = Number(ceil(smaller(mostOf(quantity, scope), quantityMax)));
    if (units <= 0) return [];
    const line = { meter, quantity: units, unitPrice: price, per, formula: quantity.text };
    return [multipliers === undefined ? line : { ...line, multipliers }];
  });
}

/** The multiplier of a service tier, as lines contain it; undefined for a tier at the list price. */
export function serviceTierMultiplier({ serviceTiers }: Pricing, serviceTier: string | undefined): Multipliers {
  if (serviceTiers === undefined || serviceTier === undefined) return undefined;
  const tier = serviceTier.toLowerCase();
  const multiplier = Object.hasOwn(serviceTiers, tier) ? serviceTiers[tier] : undefined;
  return multiplier === undefined ? undefined : { [`service_tier:${tier}`]: multiplier };
}

/** The names of tiers at the list price. */
const listPriceTiers: ReadonlySet<string> = new Set(['default', 'standard']);

/**
 * The highest multiplier that a reply can have. A request that names a tier of its model gets that one or none. A
 * request without a tier, one that leaves the choice to the vendor, or one with the tier of another vendor may get any.
 */
export function mostExpensiveServiceTier({ serviceTiers = {} }: Pricing, requested: string | undefined): Multipliers {
  const named = requested?.toLowerCase();
  const pinned = named !== undefined && (listPriceTiers.has(named) || Object.hasOwn(serviceTiers, named)) ? named : undefined;
  let highest = '1';
  for (const [tier, factor] of Object.entries(serviceTiers)) {
    if (pinned !== undefined && tier !== pinned) continue;
    if (isMoreExpensive(factor, highest)) highest = factor;
  }
  return highest === '1' ? undefined : { service_tier: highest };
}
