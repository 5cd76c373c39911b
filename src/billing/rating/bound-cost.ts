import { countInput, inputMeters } from '../../inference/meters.ts';
import type { Usage } from '../../inference/usage.ts';
import type { Charge, ChargeLine } from '../ledger/call-entry.ts';
import { type ChargeBasis, chargeLines, mostExpensiveServiceTier, judge } from './charge-lines.ts';
import { scopeOfPlan } from './expressions/compile-expression.ts';
import type { Pricing, PricingTier } from './pricing.ts';
import type { CallBounds, CostBounds, PlannedCall, RatedCall } from './rating.ts';
import { recomputeAmount } from './recompute-amount.ts';
import { tokensPerPrice } from './token-lines.ts';

const nothingPriced: CostBounds = { minimumNanoUsd: 0n, expectedNanoUsd: 0n, maximumNanoUsd: 0n };

/**
 * Bounds of what a planned call may cost.
 *
 * The maximum is a charge made of the most that can be used, in which everything that is still open is the dearest that it can turn out to be: kinds of tokens, every tier up to
 * the most input, the service tier, conditions of expressions. A call whose usage stays within `most` is charged at most that. The minimum is what an answer costs that used nothing.
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
  const dearestNanoUsd = highestCost(call, pricings, payer);
  return {
    minimumNanoUsd: emptyNanoUsd < expectedNanoUsd ? emptyNanoUsd : expectedNanoUsd,
    expectedNanoUsd,
    maximumNanoUsd: dearestNanoUsd > expectedNanoUsd ? dearestNanoUsd : expectedNanoUsd,
  };
}

/** The maximum alone, as every call is held for: an expectation that stays within `most` has no part in it. */
export function highestCost(call: CallBounds, pricings: readonly Pricing[] | undefined, payer: ChargeLine['multipliers']): bigint {
  if (pricings === undefined) return 0n;
  const { most } = call;
  const scope = scopeOfPlan(most, call.pricingParameters);
  let dearest = 0n;
  for (const pricing of pricings) {
    const { mayBeTrue, mayBeFalse } = judge(pricing.when, scope);
    if (mayBeTrue) {
      const amount = highestCostOfPricing(pricing, call, most, { payer, scope: () => scope });
      if (amount > dearest) dearest = amount;
    }
    if (!mayBeFalse) break;
  }
  return dearest;
}

function highestCostOfPricing(pricing: Pricing, call: CallBounds, most: Usage, known: Pick<ChargeBasis, 'payer' | 'scope'>): bigint {
  const basis = {
    ...known,
    // An answer without a single count has been used all the same.
    usage: { outputTokens: 0, ...most },
    parameters: call.pricingParameters,
    serviceTier: mostExpensiveServiceTier(pricing, call.serviceTier),
  };
  const amountAt = (tier: PricingTier | undefined): bigint =>
    recomputeAmount(chargeLines(pricing, basis, (multipliers) => (tier === undefined ? [] : dearestTokens(tier, most, multipliers))));
  const [first, ...others] = reachableTiers(pricing.tiers, most);
  let dearest = amountAt(first);
  for (const tier of others) {
    const amount = amountAt(tier);
    if (amount > dearest) dearest = amount;
  }
  return dearest;
}

/** The tiers that a call can come to be priced at: whatever the kinds of its input, it has at most so much. */
function reachableTiers(tiers: readonly PricingTier[], most: Usage): readonly PricingTier[] {
  if (tiers.length < 2) return tiers;
  const total = countInput(most);
  return tiers.filter(({ inputAbove }, index) => index === 0 || total > inputAbove);
}

function dearestTokens({ dearestInput, dearestOutput }: PricingTier, most: Usage, multipliers: ChargeLine['multipliers']): ChargeLine[] {
  const lineOf = (quantity: number, unitPrice: string): ChargeLine => ({
    meter: 'most',
    quantity,
    unitPrice,
    per: tokensPerPrice,
    multipliers: multipliers ?? {},
  });
  const lines = [lineOf(most.outputTokens ?? 0, dearestOutput)];
  // One by one: their sum may be more than a line can hold.
  for (const name of inputMeters) {
    const quantity = most[name] ?? 0;
    if (quantity !== 0) lines.push(lineOf(quantity, dearestInput));
  }
  return lines;
}
