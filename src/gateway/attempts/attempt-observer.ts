import type { CallOpening, FailedAttempt } from '../../billing/ledger/call-entry.ts';
import type { ReplyReport } from '../../dialects/chat-dialect.ts';
import type { GatewayError } from '../../inference/gateway-error.ts';
import type { TranslationNote } from '../../inference/translation-notes.ts';
import type { Departure } from './disconnect/departure.ts';
import type { ExchangeObserver, Outcome } from './exchange/exchange-context.ts';
import type { Gateway } from '../endpoints/gateway.ts';
import type { AttemptTicket, AttemptVerdict } from './health/health.ts';
import { keepBooks, keepNoBooks } from './books/keep-books.ts';
import { endCreditWithCall } from './books/end-with-call.ts';
import { boundUsage } from '../endpoints/chat/usage-bound.ts';
import { countUsedTokens, endWithCall } from '../admission/limits/reserve-call.ts';
import type { ExchangePlan } from '../endpoints/chat/plan/plan-exchange.ts';
import type { Target } from './routing/routing-table.ts';
import type { KnownCall } from './call.ts';
import type { RetryGrant } from './retry/retry-budget.ts';
import { decideRetry } from './retry/retry-policy.ts';

/** One attempt as it is followed. */
export type FollowedAttempt = {
  readonly target: Target;
  readonly plan: ExchangePlan;
  /** Undefined for what costs nothing. */
  readonly opening: CallOpening | undefined;
  readonly ticket: AttemptTicket;
  /** Present when it follows a failed one. */
  readonly grant: RetryGrant | undefined;
  /** What it took of its target's budget; 0 for a first one. */
  readonly cost: number;
  /** Hears of the first content: from then on no other attempt can follow. */
  readonly onContent: () => void;
};

const noNotes = (): readonly TranslationNote[] => [];

/** Follows one attempt: what it says of its target's health, and, when it is the one that ends its call, the books. */
export class AttemptObserver implements ExchangeObserver {
  readonly meter: ExchangeObserver['meter'];
  readonly #gateway: Gateway;
  readonly #attempt: FollowedAttempt;
  readonly #books: ExchangeObserver;
  readonly #startedMs: number;
  readonly #isStream: boolean;
  #status: number | undefined;
  #upstreamRequestId: string | undefined;

  constructor(gateway: Gateway, known: KnownCall, attempt: FollowedAttempt) {
    this.#gateway = gateway;
    this.#attempt = attempt;
    this.#isStream = known.framing !== undefined;
    this.#books = followBooks(gateway, known, attempt);
    this.meter = this.#books.meter;
    this.#startedMs = gateway.clock.monotonicMs();
  }

  head(status: number, upstreamRequestId: string | undefined): void {
    this.#status = status;
    this.#upstreamRequestId = upstreamRequestId;
    // A stream has only said that it will come: what stalls between its head and its content is to be suspected too.
    if (!this.#isStream || status > 299) this.#attempt.ticket.headArrived();
    this.#books.head(status, upstreamRequestId);
  }

  firstContent(): void {
    const { onContent, cost, target } = this.#attempt;
    onContent();
    if (cost > 0) this.#gateway.retryBudget.giveBack(target.upstream.id, cost);
    this.#attempt.ticket.contentArrived();
    this.#books.firstContent();
  }

  progress(report: ReplyReport): void {
    this.#books.progress(report);
  }

  left(departure: Departure): void {
    this.#books.left?.(departure);
  }

  settled(outcome: Outcome, then?: () => void): void {
    const { ticket, target } = this.#attempt;
    ticket.end(this.#judge(outcome));
    this.release();
    if (outcome.end === 'finished') this.#gateway.retryBudget.succeeded(target.upstream.id);
    this.#books.settled(outcome, then);
  }

  #judge({ end, error }: Outcome): AttemptVerdict {
    if (end === 'finished') return { type: 'answered' };
    if (error === undefined) return { type: 'unknown' };
    const upstreamStatus = this.#status === undefined ? {} : { upstreamStatus: this.#status };
    return decideRetry({ error, ...upstreamStatus, attempt: 1, isDelivered: true, hasClientLeft: false }, this.#gateway.random).verdict;
  }

  /** How long it has waited for its upstream's status line; undefined when that has come. */
  waitedMs(nowMs: number): number | undefined {
    return this.#status === undefined ? nowMs - this.#startedMs : undefined;
  }

  /** Whether its upstream's status line has come. */
  get isAnswered(): boolean {
    return this.#status !== undefined;
  }

  /** Gives back what it took as an attempt that follows another. May be called again. */
  release(): void {
    this.#attempt.grant?.release();
  }

  /** The record of this attempt, when another follows. */
  describeFailure(error: GatewayError): FailedAttempt {
    const { upstream, upstreamModel } = this.#attempt.target;
    return {
      upstream: upstream.id,
      credential: upstream.credentialId,
      upstreamModel,
      ...(this.#status === undefined ? {} : { upstreamStatus: this.#status }),
      ...(this.#upstreamRequestId === undefined ? {} : { upstreamRequestId: this.#upstreamRequestId }),
      errorCode: error.code,
      durationMs: Math.round(this.#gateway.clock.monotonicMs() - this.#startedMs),
    };
  }
}

/** Returns what keeps the books of an attempt, and ends with it what was taken of the call's limits. */
function followBooks(gateway: Gateway, known: KnownCall, attempt: FollowedAttempt): ExchangeObserver {
  const { opening, plan, target } = attempt;
  if (opening === undefined) return keepNoBooks(known.report);
  const { translation } = plan;
  const { facts, taken, credit, settings, startedMs, call } = known;
  const books = keepBooks({
    gateway,
    opening,
    upstreamDialect: plan.upstreamDialect.id,
    priceBook: settings.routing.priceBook,
    startedMs,
    bound: boundUsage(known, { target, plan, pricingParameters: opening.pricingParameters }),
    report: known.round ?? known.report,
    vendor: target.upstream.vendor,
    // A translated reply is kept by nobody under the id that the client sees.
    keepsReply: facts.keepsReply === true && translation === undefined,
    replyNotes: translation === undefined ? noNotes : () => translation.replyNotes.list(),
    credit,
    used: taken === undefined ? undefined : (usage) => taken.reservation.settle(countUsedTokens(usage)),
  });
  const limited = taken === undefined ? books : endWithCall(books, taken, call.response);
  // A round charges what is held for all of them; the loop ends it.
  return credit === undefined || known.round !== undefined ? limited : endCreditWithCall(limited, credit);
}
