import type { ApiKey } from '../../../accounts/api-key.ts';
import type { CreditDesk, CreditHold, CreditRefusal, SpendPeriod } from '../../../billing/credits/credit-desk.ts';
import type { CallEntry, CallOpening } from '../../../billing/ledger/call-entry.ts';
import { usdDecimal } from '../../../billing/statistics/usd-decimal.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import type { InputMeasure } from '../../../inference/measure-input.ts';
import type { Clock } from '../../../platform/clock.ts';

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

/** What a chat asks of its model, as far as its price depends on it. */
export type HeldPlan = {
  /** How large what the model reads is. */
  readonly input: InputMeasure;
  /** The service tier that was asked for. */
  readonly serviceTier?: string | undefined;
};

type Desk = { readonly credits?: CreditDesk | undefined; readonly clock: Clock };

type Answer = CallCredit | undefined | Promise<CallCredit | undefined>;

/**
 * What is set aside for one call, with all its rounds, tools and attempts: each row of the call is charged to it, and it ends with the call, whatever becomes of that. Ending it again
 * does nothing.
 */
export class CallCredit {
  readonly #hold: CreditHold;
  readonly #clock: Clock;
  #chargedNanoUsd = 0n;
  /** For what it is held; undefined for what is no chat. */
  plan: HeldPlan | undefined;

  constructor(hold: CreditHold, clock: Clock) {
    this.#hold = hold;
    this.#clock = clock;
  }

  /** What a row says of it that is about to be opened. */
  describe(): Pick<CallOpening, 'heldNanoUsd' | 'heldPots'> {
    return { heldNanoUsd: this.#hold.heldNanoUsd().toString(), heldPots: this.#hold.pots };
  }

  /** What of it is not charged yet. */
  get leftNanoUsd(): bigint {
    return this.#hold.heldNanoUsd() - this.#chargedNanoUsd;
  }

  /** A row of the call is in the books, or about to be. */
  charge({ charge }: Pick<CallEntry, 'charge'>): void {
    this.#chargedNanoUsd += charge.amountNanoUsd;
    this.#hold.charge(charge.amountNanoUsd);
  }

  /**
   * Sees to it that what comes next is covered, beside what is charged already.
   * @param nanoUsd what it may cost at most
   * @returns undefined when it is; at once where the lease has it
   */
  cover(nanoUsd: bigint): undefined | GatewayError | Promise<GatewayError | undefined> {
    const missing = nanoUsd - this.leftNanoUsd;
    if (missing <= 0n) return undefined;
    const tell = (refusal: CreditRefusal | undefined): GatewayError | undefined =>
      refusal === undefined ? undefined : describeCreditRefusal(refusal, nanoUsd, this.#clock.nowMs());
    const extended = this.#hold.extend(missing);
    return extended instanceof Promise ? extended.then(tell) : tell(extended);
  }

  /** Gives back what is not charged. */
  readonly end = (): void => {
    this.#hold.end();
  };
}

type Spender = Pick<ApiKey, 'id' | 'userName' | 'limits' | 'userLimits'>;

/** Whether anything limits what a caller may spend: for the others, nothing is reckoned. */
function spendsWithinLimits({ limits, userLimits }: Pick<ApiKey, 'limits' | 'userLimits'>): boolean {
  return isSpendLimit(limits) || isSpendLimit(userLimits);
}

function isSpendLimit(limits: ApiKey['limits']): boolean {
  if (limits === undefined) return false;
  return (limits.spendPerDay ?? limits.spendPerMonth ?? limits.spendTotal ?? limits.prepaid) !== undefined;
}

/**
 * Sets aside what a call may cost at most. Undefined where nothing limits what its caller spends.
 * @param acceptedAtMs that of all rows of the call: it decides to which day and month its cost belongs
 * @param bound what it may cost at most; asked only where something limits it
 * @throws GatewayError `insufficient_credit`, `spend_limit_reached` or `credits_unavailable`; then nothing was taken
 */
export function takeCredit(desk: Desk, caller: Spender, acceptedAtMs: number, bound: () => bigint | Promise<bigint>): Answer {
  if (desk.credits === undefined || !spendsWithinLimits(caller)) return undefined;
  const needed = bound();
  if (!(needed instanceof Promise)) return hold(desk, caller, acceptedAtMs, needed);
  return needed.then((nanoUsd) => hold(desk, caller, acceptedAtMs, nanoUsd));
}

function hold({ credits, clock }: Desk, caller: Spender, acceptedAtMs: number, nanoUsd: bigint): Answer {
  const conclude = (answer: CreditHold | CreditRefusal): CallCredit => {
    if (answer.admitted) return new CallCredit(answer, clock);
    throw describeCreditRefusal(answer, nanoUsd, clock.nowMs());
  };
  const answer = credits?.hold(caller, nanoUsd, acceptedAtMs);
  if (answer === undefined) return undefined;
  return answer instanceof Promise ? answer.then(conclude) : conclude(answer);
}
