import { countInput, inputMeters } from '../../inference/meters.ts';
import type { Usage } from '../../inference/usage.ts';
import type { Charge, ChargeLine } from '../ledger/call-entry.ts';
import { type ChargeBasis, chargeLines, mostExpensiveServiceTier, evaluateCondition } from './charge-lines.ts';
import { scopeOfPlan } from './expressions/compile-expression.ts';
import type { Pricing, PricingTier } from './pricing.ts';
import type { CallBounds, CostBounds, PlannedCall, RatedCall } from './rating.ts';
import { recomputeAmount } from './recompute-amount.ts';
import { tokensPerPrice } from './token-lines.ts';

const nothingPriced: CostBounds = { minimumNanoUsd: 0n, expectedNanoUsd: 0n, maximumNanoUsd: 0n };

/**
 * The bounds of the cost of a planned call.
 *
 * The maximum is the charge of the highest usage, with the most expensive value of everything that is still open: kinds
 * of tokens, every tier up to the highest input, the service tier, conditions of expressions. The charge of a call
 * whose usage stays within `most` is at most that. The minimum is the cost of an answer without usage.
 */
export function boundCost(
  call: PlannedCall,
  pricings: readonly Pricing[] | undefined,
  payer: ChargeLine['multipliers'],
  rate: (call: RatedCall) => Charge,
): CostBounds {
  if (pricings === undefined) return nothingPriced;
  const { expected } = call;
  const expectedNanoUsd = rate({ ...call, usage: expected }).amountNanoUsd;
  const emptyNanoUsd = rate({ ...call, usage: { outputTokens: 0 } }).amountNanoUsd;
  const highestNanoUsd = highestCost(call, pricings, payer);
  return {
    minimumNanoUsd: emptyNanoUsd < expectedNanoUsd ? emptyNanoUsd : expectedNanoUsd,
    expectedNanoUsd,
    maximumNanoUsd: highestNanoUsd > expectedNanoUsd ? highestNanoUsd : expectedNanoUsd,
  };
}

/** The maximum only, for the hold of every call: an estimate within `most` does not matter for it. */
export function highestCost(call: CallBounds, pricings: readonly Pricing[] | undefined, payer: ChargeLine['multipliers']): bigint {
  if (pricings === undefined) return 0n;
  const { most } = call;
  const scope = scopeOfPlan(most, call.pricingParameters);
  let highest = 0n;
  for (const pricing of pricings) {
    const { mayBeTrue, mayBeFalse } = evaluateCondition(pricing.when, scope);
    if (mayBeTrue) {
      const amount = highestCostOfPricing(pricing, call, most, { payer, scope: () => scope });
      if (amount > highest) highest = amount;
    }
    if (!mayBeFalse) break;
  }
  return highest;
}

function highestCostOfPricing(pricing: Pricing, call: CallBounds, most: Usage, shared: Pick<ChargeBasis, 'payer' | 'scope'>): bigint {
  const basis = {
    ...shared,
    // An answer without any count still counts as used.
    usage: { outputTokens: 0, ...most },
    parameters: call.pricingParameters,
    serviceTier: mostExpensiveServiceTier(pricing, call.serviceTier),
  };
  const amountAt = (tier: PricingTier | undefined): bigint =>
    recomputeAmount(chargeLines(pricing, basis, (multipliers) => (tier === undefined ? [] : mostExpensiveTokens(tier, most, multipliers))));
  const [first, ...others] = reachableTiers(pricing.tiers, most);
  let highest = amountAt(first);
  for (const tier of others) {
    const amount = amountAt(tier);
    if (amount > highest) highest = amount;
  }
  return highest;
}

/** The tiers that can apply to a call: its input is at most this, whatever its kinds. */
function reachableTiers(tiers: readonly PricingTier[], most: Usage): readonly PricingTier[] {
  if (tiers.length < 2) return tiers;
  const total = countInput(most);
  return tiers.filter(({ inputAbove }, index) => index === 0 || total > inputAbove);
}

function mostExpensiveTokens(
  { mostExpensiveInput, mostExpensiveOutput }: PricingTier,
  most: Usage,
  multipliers: ChargeLine['multipliers'],
): ChargeLine[] {
  const lineOf = (quantity: number, unitPrice: string): ChargeLine => ({
    meter: 'most',
    quantity,
    unitPrice,
    per: tokensPerPrice,
    multipliers: multipliers ?? {},
  });
  const lines = [lineOf(most.outputTokens ?? 0, mostExpensiveOutput)];
  // One line each: their sum may be more than a line can have.
  for (const name of inputMeters) {
    const quantity = most[name] ?? 0;
    if (quantity !== 0) lines.push(lineOf(quantity, mostExpensiveInput));
  }
  return lines;
}
