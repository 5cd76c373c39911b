import type { CreditRefusal, SpendPeriod } from '../../../billing/credits/credit-desk.ts';
import { usdDecimal } from '../../../billing/statistics/usd-decimal.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';

const whose = { key: 'this API key', user: 'this user' } as const;
const periods: Readonly<Record<SpendPeriod, string>> = { day: 'a day', month: 'a month', total: 'altogether' };

/** SDKs would try again at once, and a second call is refused as the first. */
const notAgain = { 'x-should-retry': 'false' };

/** How soon what is leased may be had again. */
const unavailableSeconds = 5;

/**
 * Words a refusal of the credit desk for the client. What is available of a balance is its user's own business and may be told.
 * @param neededNanoUsd what the call may cost at most
 */
export function describeCreditRefusal(refusal: CreditRefusal, neededNanoUsd: bigint, nowMs: number): GatewayError {
  const needed = `may cost up to $${usdDecimal(neededNanoUsd)}`;
  if (refusal.reason === 'balance') {
    const available = usdDecimal(refusal.availableNanoUsd < 0n ? 0n : refusal.availableNanoUsd);
    const message = `Insufficient credit: this request ${needed} and $${available} is available. Add credit, shorten the input or ask for less output.`;
    return new GatewayError('insufficient_credit', message, { headers: notAgain });
  }
  if (refusal.reason === 'unavailable') {
    const message = 'the gateway cannot set credit aside for this request at the moment; try again';
    return new GatewayError('credits_unavailable', message, { retryAfterSeconds: unavailableSeconds });
  }
  const { scope, period, resetsAtMs } = refusal;
  const limitUsd = usdDecimal(refusal.limitNanoUsd);
  const message = `Spend limit reached for ${whose[scope]}: $${limitUsd} ${periods[period]}. This request ${needed}. Shorten the input, ask for less output, or have the limit raised.`;
  return new GatewayError('spend_limit_reached', message, {
    exceededSpend: { scope, period, limitUsd },
    headers: notAgain,
    ...(resetsAtMs === undefined ? {} : { retryAfterSeconds: Math.max(1, Math.ceil((resetsAtMs - nowMs) / 1000)) }),
  });
}
