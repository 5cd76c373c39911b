import type { CreditRefusal } from '../../../billing/credits/credit-desk.ts';
import { writeCounts } from '../../../billing/receipts/count-names.ts';
import { createMoneyWriter, describeUnit } from '../../../billing/receipts/show-credits.ts';
import type { CostBounds, PriceBook } from '../../../billing/rating/rating.ts';
import { writeLine } from '../../../billing/receipts/build-receipt.ts';
import type { PricingParameters } from '../../../inference/usage.ts';
import { readPrices } from '../../attempts/books/open-attempt.ts';
import type { QuoteTarget, QuotedCall, QuotedTarget } from '../shared/quoted-call.ts';

/** The cost of a quoted call at each of its targets, and of all of them. */
export type PricedQuote = {
  readonly bounds: CostBounds;
  /** The amount that is held before the first round. */
  readonly heldNanoUsd: bigint;
  readonly targets: readonly PricedTarget[];
};

type PricedTarget = {
  readonly quoted: QuotedTarget;
  readonly pricingParameters: PricingParameters;
  readonly bounds: CostBounds;
  readonly heldNanoUsd: bigint;
  readonly expected: ReturnType<PriceBook['rate']>;
};

/** Prices a call with the functions that would also hold and charge it. */
export function priceQuote(
  { settings, caller, nowMs }: QuoteTarget,
  { requestedModel, targets, roundsMax, toolsMost = [], serviceTier }: QuotedCall,
): PricedQuote {
  const { priceBook } = settings.routing;
  const payer = { userName: caller.userName, keyId: caller.id };
  const toolsNanoUsd = mostOf(toolsMost.map((usage) => priceBook.rateTools(usage, payer).amountNanoUsd));
  const priced = targets.map((quoted): PricedTarget => {
    const { target, usage, firstRound = usage, sent } = quoted;
    const read = readPrices(priceBook, { target, requestedModel, acceptedAtMs: nowMs, uses: usage.most }, sent);
    const pricingParameters = { ...quoted.pricingParameters, ...read };
    const rated = {
      vendor: target.upstream.vendor.id,
      upstreamModel: target.upstreamModel,
      requestedModel,
      acceptedAtMs: nowMs,
      pricingParameters,
      ...payer,
      serviceTier,
    };
    const { maximumNanoUsd, ...others } = priceBook.bound({ ...rated, ...usage });
    return {
      quoted,
      pricingParameters,
      bounds: { ...others, maximumNanoUsd: maximumNanoUsd * BigInt(roundsMax) + toolsNanoUsd },
      heldNanoUsd: priceBook.most({ ...rated, most: firstRound.most }),
      expected: priceBook.rate({ ...rated, usage: usage.expected }),
    };
  });
  const [first] = priced;
  return {
    targets: priced,
    bounds: {
      minimumNanoUsd: leastOf(priced.map(({ bounds }) => bounds.minimumNanoUsd)),
      expectedNanoUsd: first?.bounds.expectedNanoUsd ?? 0n,
      maximumNanoUsd: mostOf(priced.map(({ bounds }) => bounds.maximumNanoUsd)),
    },
    heldNanoUsd: mostOf(priced.map(({ heldNanoUsd }) => heldNanoUsd)),
  };
}

const leastOf = (amounts: readonly bigint[]): bigint => amounts.reduce((least, other) => (other < least ? other : least));
const mostOf = (amounts: readonly bigint[]): bigint => amounts.reduce((most, other) => (other > most ? other : most), 0n);

/**
 * Whether the caller has credit for the call at this moment. `unlimited`: the caller has no limit, and nothing is held.
 */
export type Affordable =
  | { readonly kind: 'unlimited' }
  | { readonly kind: 'covered' }
  | { readonly kind: 'refused'; readonly refusal: CreditRefusal };

type WriteMoney = ReturnType<typeof createMoneyWriter>;

/** The answer to a quote request. */
export function describeQuote(
  { path, settings, nowMs }: Pick<QuoteTarget, 'settings' | 'nowMs'> & { readonly path: string },
  call: QuotedCall,
  { bounds, heldNanoUsd, targets }: PricedQuote,
  affordable: Affordable,
): object {
  const { credits, version } = settings.routing.priceBook;
  const money = createMoneyWriter(credits);
  return {
    object: 'quote',
    path,
    dialect: call.dialect,
    requested_model: call.requestedModel,
    quoted_at: new Date(nowMs).toISOString(),
    currency: 'USD',
    ...describeUnit(credits),
    price_version: version,
    ...describeBounds(bounds, money),
    rounds_max: call.roundsMax,
    held: affordable.kind === 'unlimited' ? null : money(heldNanoUsd),
    allowed: affordable.kind !== 'refused',
    refusal: affordable.kind === 'refused' ? describeRefusal(affordable.refusal, money) : null,
    targets: targets.map((target) => describeTarget(target, money)),
  };
}

function describeBounds({ minimumNanoUsd, expectedNanoUsd, maximumNanoUsd }: CostBounds, money: WriteMoney) {
  return { minimum: money(minimumNanoUsd), expected: money(expectedNanoUsd), maximum: money(maximumNanoUsd) };
}

function describeTarget(
  { quoted: { target, usage, notes }, pricingParameters, bounds, expected }: PricedTarget,
  money: WriteMoney,
): object {
  return {
    upstream: target.upstream.id,
    vendor: target.upstream.vendor.id,
    upstream_model: target.upstreamModel,
    price_id: expected.priceId ?? null,
    pricing_parameters: { ...pricingParameters },
    ...describeBounds(bounds, money),
    usage: { expected: writeCounts(usage.expected), most: writeCounts(usage.most) },
    lines: expected.lines.map(writeLine),
    notes: notes?.map(({ kind, field, reason }) => ({ kind, field, reason })) ?? null,
  };
}

function describeRefusal(refusal: CreditRefusal, money: WriteMoney): object {
  switch (refusal.reason) {
    case 'balance':
      return { reason: 'balance', available: money(refusal.availableNanoUsd) };
    case 'spend-limit':
      return { reason: 'spend_limit', scope: refusal.scope, period: refusal.period, limit: money(refusal.limitNanoUsd) };
    case 'unavailable':
      return { reason: 'unavailable' };
  }
}
