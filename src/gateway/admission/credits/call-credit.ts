import type { ApiKey } from '../../../accounts/api-key.ts';
import type { CreditDesk, CreditHold, CreditRefusal, Payer, SpendPeriod } from '../../../billing/credits/credit-desk.ts';
import { payerOf } from '../../../billing/credits/pots.ts';
import type { CallEntry, CallOpening } from '../../../billing/ledger/call-entry.ts';
import { usdDecimal } from '../../../billing/statistics/usd-decimal.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import type { InputMeasure } from '../../../inference/measure-input.ts';
import type { Clock } from '../../../platform/clock.ts';
import { nameLevel } from '../name-level.ts';

const periods: Readonly<Record<SpendPeriod, string>> = { day: 'a day', month: 'a month', total: 'altogether' };

/** SDKs would retry at once, and the retry would be refused as well. */
const notAgain = { 'x-should-retry': 'false' };

/** The time after which leased credit may be available again. */
const unavailableSeconds = 5;

/**
 * Words a refusal for the client: the level that is used up, by how much, and until when.
 * @param neededNanoUsd the highest cost of the call
 */
export function describeCreditRefusal(refusal: CreditRefusal, neededNanoUsd: bigint, nowMs: number, team?: ApiKey['team']): GatewayError {
  const needed = `may cost up to $${usdDecimal(neededNanoUsd)}`;
  if (refusal.reason === 'balance') {
    const available = usdDecimal(refusal.availableNanoUsd < 0n ? 0n : refusal.availableNanoUsd);
    const whose = refusal.scope === 'user' ? '' : ` for ${nameLevel(refusal.scope, team)}`;
    const message = `Insufficient credit${whose}: this request ${needed} and $${available} is available. Add credit, shorten the input or ask for less output.`;
    return new GatewayError('insufficient_credit', message, { headers: notAgain });
  }
  if (refusal.reason === 'unavailable') {
    const message = 'the gateway cannot hold credit for this request at the moment; try again';
    return new GatewayError('credits_unavailable', message, { retryAfterSeconds: unavailableSeconds });
  }
  const { scope, period, resetsAtMs } = refusal;
  const limitUsd = usdDecimal(refusal.limitNanoUsd);
  const left = usdDecimal(refusal.availableNanoUsd);
  const until = resetsAtMs === undefined ? '' : ` The limit is free again at ${new Date(resetsAtMs).toISOString()}.`;
  const message = `Spend limit reached for ${nameLevel(scope, team)}: $${limitUsd} ${periods[period]}, $${left} left. This request ${needed}.${until} Shorten the input, ask for less output, or have the limit raised.`;
  return new GatewayError('spend_limit_reached', message, {
    exceededSpend: { scope, period, limitUsd },
    headers: notAgain,
    ...(resetsAtMs === undefined ? {} : { retryAfterSeconds: Math.max(1, Math.ceil((resetsAtMs - nowMs) / 1000)) }),
  });
}

/** The parts of a chat's request that decide its price. */
export type HeldPlan = {
  /** The size of the model's input. */
  readonly input: InputMeasure;
  /** The requested service tier. */
  readonly serviceTier?: string | undefined;
};

type Desk = { readonly credits?: CreditDesk | undefined; readonly clock: Clock };

type Answer = CallCredit | undefined | Promise<CallCredit | undefined>;

/**
 * The hold of one call, for all its rounds, tools and attempts. Each row of the call is charged to it. It ends with the
 * call, however that ends; ending it again does nothing.
 */
export class CallCredit {
  readonly #hold: CreditHold;
  readonly #clock: Clock;
  readonly #team: ApiKey['team'];
  #chargedNanoUsd = 0n;
  /** The request that the hold was computed from. Undefined for a call that is not a chat. */
  plan: HeldPlan | undefined;

  constructor(hold: CreditHold, clock: Clock, team?: ApiKey['team']) {
    this.#hold = hold;
    this.#clock = clock;
    this.#team = team;
  }

  /** The hold, as the row of a call that is about to be opened describes it. */
  describe(): Pick<CallOpening, 'heldNanoUsd' | 'heldPots' | 'payer'> {
    const { pots } = this.#hold;
    const payer = payerOf(pots);
    return { heldNanoUsd: this.#hold.heldNanoUsd().toString(), heldPots: pots, ...(payer === undefined ? {} : { payer }) };
  }

  /** The part of the hold that is not charged yet. */
  get leftNanoUsd(): bigint {
    return this.#hold.heldNanoUsd() - this.#chargedNanoUsd;
  }

  /** Charges a row that is in the books, or about to be. */
  charge({ charge }: Pick<CallEntry, 'charge'>): void {
    this.#chargedNanoUsd += charge.amountNanoUsd;
    this.#hold.charge(charge.amountNanoUsd);
  }

  /**
   * Extends the hold to cover a further cost beside the charged rows.
   * @param nanoUsd the highest further cost
   * @returns the refusal; undefined if it is covered, without a promise if the lease suffices
   */
  cover(nanoUsd: bigint): undefined | GatewayError | Promise<GatewayError | undefined> {
    const missing = nanoUsd - this.leftNanoUsd;
    if (missing <= 0n) return undefined;
    const tell = (refusal: CreditRefusal | undefined): GatewayError | undefined =>
      refusal === undefined ? undefined : describeCreditRefusal(refusal, nanoUsd, this.#clock.nowMs(), this.#team);
    const extended = this.#hold.extend(missing);
    return extended instanceof Promise ? extended.then(tell) : tell(extended);
  }

  /** Releases the part that is not charged. */
  readonly end = (): void => {
    this.#hold.end();
  };
}

type Spender = Payer;

/** Whether anything limits a caller's spending. Otherwise no cost is computed. */
function spendsWithinLimits({ limits, userLimits, team, organizationLimits }: Payer): boolean {
  return isSpendLimit(limits) || isSpendLimit(userLimits) || isSpendLimit(team?.limits) || isSpendLimit(organizationLimits);
}

function isSpendLimit(limits: ApiKey['limits']): boolean {
  if (limits === undefined) return false;
  return (limits.spendPerDay ?? limits.spendPerMonth ?? limits.spendTotal ?? limits.prepaid) !== undefined;
}

/**
 * Holds the highest cost of a call. Undefined if nothing limits the caller's spending.
 * @param acceptedAtMs the time in all rows of the call, which decides the day and the month of its cost
 * @param bound computes the highest cost; called only if spending is limited
 * @throws GatewayError `insufficient_credit`, `spend_limit_reached` or `credits_unavailable`; then nothing is held
 */
export function takeCredit(desk: Desk, caller: Spender, acceptedAtMs: number, bound: () => bigint | Promise<bigint>): Answer {
  if (desk.credits === undefined || !spendsWithinLimits(caller)) return undefined;
  const needed = bound();
  if (!(needed instanceof Promise)) return hold(desk, caller, acceptedAtMs, needed);
  return needed.then((nanoUsd) => hold(desk, caller, acceptedAtMs, nanoUsd));
}

function hold({ credits, clock }: Desk, caller: Spender, acceptedAtMs: number, nanoUsd: bigint): Answer {
  const conclude = (answer: CreditHold | CreditRefusal): CallCredit => {
    if (answer.admitted) return new CallCredit(answer, clock, caller.team);
    throw describeCreditRefusal(answer, nanoUsd, clock.nowMs(), caller.team);
  };
  const answer = credits?.hold(caller, nanoUsd, acceptedAtMs);
  if (answer === undefined) return undefined;
  return answer instanceof Promise ? answer.then(conclude) : conclude(answer);
}
