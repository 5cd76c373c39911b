import type { CreditRefusal } from '../../billing/credits/credit-desk.ts';
import { writeCounts } from '../../billing/receipts/count-names.ts';
import { formatExact, formatMoney } from '../../billing/receipts/exact-text.ts';
import type { CostBounds, PriceBook } from '../../billing/rating/rating.ts';
import { sumLines } from '../../billing/rating/recompute-amount.ts';
import type { Asked, QuotedCall, QuotedTarget } from './quoted-call.ts';

/** What a quoted call costs at each of its targets, and over all. */
export type PricedQuote = { readonly bounds: CostBounds; readonly targets: readonly PricedTarget[] };

type PricedTarget = { readonly quoted: QuotedTarget; readonly bounds: CostBounds; readonly expected: ReturnType<PriceBook['rate']> };

/** Prices a call by the very functions that would hold and charge it. */
export function priceQuote({ settings, caller, nowMs }: Asked, { requestedModel, targets, roundsMax }: QuotedCall): PricedQuote {
  const { priceBook } = settings.routing;
  const priced = targets.map((quoted): PricedTarget => {
    const { target, usage, pricingParameters } = quoted;
    const rated = {
      vendor: target.upstream.vendor.id,
      upstreamModel: target.upstreamModel,
      requestedModel,
      acceptedAtMs: nowMs,
      pricingParameters,
      userName: caller.userName,
      keyId: caller.id,
    };
    const { maximumNanoUsd, ...bounds } = priceBook.bound({ ...rated, ...usage });
    return {
      quoted,
      bounds: { ...bounds, maximumNanoUsd: maximumNanoUsd * BigInt(roundsMax) },
      expected: priceBook.rate({ ...rated, usage: usage.expected }),
    };
  });
  const [first] = priced;
  const all = priced.map(({ bounds }) => bounds);
  return {
    targets: priced,
    bounds: {
      minimumNanoUsd: all.map(({ minimumNanoUsd }) => minimumNanoUsd).reduce((least, other) => (other < least ? other : least)),
      expectedNanoUsd: first?.bounds.expectedNanoUsd ?? 0n,
      maximumNanoUsd: all.map(({ maximumNanoUsd }) => maximumNanoUsd).reduce((most, other) => (other > most ? other : most)),
    },
  };
}

/** Whether there is money for it at this moment. `unlimited`: nothing limits what the caller spends, and nothing is held. */
export type Affordable =
  | { readonly kind: 'unlimited' }
  | { readonly kind: 'covered' }
  | { readonly kind: 'refused'; readonly refusal: CreditRefusal };

/** The answer to a question for a price. */
export function describeQuote(
  { path, settings, nowMs }: Pick<Asked, 'settings' | 'nowMs'> & { readonly path: string },
  call: QuotedCall,
  { bounds, targets }: PricedQuote,
  affordable: Affordable,
): object {
  return {
    object: 'quote',
    path,
    dialect: call.dialect,
    requested_model: call.requestedModel,
    quoted_at: new Date(nowMs).toISOString(),
    currency: 'USD',
    price_version: settings.routing.priceBook.version,
    ...describeBounds(bounds),
    rounds_max: call.roundsMax,
    held: affordable.kind === 'unlimited' ? null : formatMoney(bounds.maximumNanoUsd),
    allowed: affordable.kind !== 'refused',
    refusal: affordable.kind === 'refused' ? describeRefusal(affordable.refusal) : null,
    targets: targets.map(describeTarget),
  };
}

function describeBounds({ minimumNanoUsd, expectedNanoUsd, maximumNanoUsd }: CostBounds) {
  return { minimum: formatMoney(minimumNanoUsd), expected: formatMoney(expectedNanoUsd), maximum: formatMoney(maximumNanoUsd) };
}

function describeTarget({ quoted: { target, usage, pricingParameters, notes }, bounds, expected }: PricedTarget): object {
  return {
    upstream: target.upstream.id,
    vendor: target.upstream.vendor.id,
    upstream_model: target.upstreamModel,
    price_id: expected.priceId ?? null,
    pricing_parameters: { ...pricingParameters },
    ...describeBounds(bounds),
    usage: { expected: writeCounts(usage.expected), most: writeCounts(usage.most) },
    lines: expected.lines.map((line) => ({
      meter: line.meter,
      quantity: line.quantity,
      unit_price_usd: line.unitPrice,
      per: line.per,
      multipliers: { ...line.multipliers },
      amount_usd: formatExact(sumLines([line])),
    })),
    notes: notes?.map(({ kind, field, reason }) => ({ kind, field, reason })) ?? null,
  };
}

function describeRefusal(refusal: CreditRefusal): object {
  switch (refusal.reason) {
    case 'balance':
      return { reason: 'balance', available: formatMoney(refusal.availableNanoUsd) };
    case 'spend-limit':
      return { reason: 'spend_limit', scope: refusal.scope, period: refusal.period, limit: formatMoney(refusal.limitNanoUsd) };
    case 'unavailable':
      return { reason: 'unavailable' };
  }
}
