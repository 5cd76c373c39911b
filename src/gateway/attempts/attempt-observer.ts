import type { CallOpening, FailedAttempt } from '../../billing/ledger/call-entry.ts';
import type { ReplyReport } from '../../dialects/chat-dialect.ts';
import type { GatewayError } from '../../inference/gateway-error.ts';
import type { TranslationNote } from '../../inference/translation-notes.ts';
import { countUsedTokens } from '../admission/limits/reserve-call.ts';
import { endCreditWithCall } from './books/end-with-call.ts';
import { keepBooks, keepNoBooks } from './books/keep-books.ts';
import type { UsageBound } from './books/settle.ts';
import type { AttemptPlan } from './call-job.ts';
import type { AttemptedCall } from './call.ts';
import type { Departure } from './disconnect/departure.ts';
import type { ExchangeObserver, Outcome } from './exchange/exchange-context.ts';
import { endWithCall } from './exchange/own-limits.ts';
import type { AttemptTicket, AttemptVerdict } from './health/health.ts';
import type { RetryGrant } from './retry/retry-budget.ts';
import { decideRetry } from './retry/retry-policy.ts';
import type { Target } from './routing/target.ts';
import type { AttemptServices } from './services.ts';

/** One attempt as it is followed. */
export type FollowedAttempt<Plan extends AttemptPlan = AttemptPlan> = {
  readonly target: Target;
  readonly plan: Plan;
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
  readonly #services: AttemptServices;
  readonly #attempt: FollowedAttempt;
  readonly #books: ExchangeObserver;
  readonly #startedMs: number;
  readonly #isStream: boolean;
  #status: number | undefined;
  #upstreamRequestId: string | undefined;

  constructor(services: AttemptServices, call: AttemptedCall, attempt: FollowedAttempt, bound: UsageBound | undefined) {
    this.#services = services;
    this.#attempt = attempt;
    this.#isStream = call.framing !== undefined;
    this.#books = followBooks(services, call, attempt, bound);
    this.meter = this.#books.meter;
    this.#startedMs = services.clock.monotonicMs();
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
    if (cost > 0) this.#services.retryBudget.giveBack(target.upstream.id, cost);
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
    if (outcome.end === 'finished') this.#services.retryBudget.succeeded(target.upstream.id);
    this.#books.settled(outcome, then);
  }

  #judge({ end, error }: Outcome): AttemptVerdict {
    if (end === 'finished') return { type: 'answered' };
    if (error === undefined) return { type: 'unknown' };
    const upstreamStatus = this.#status === undefined ? {} : { upstreamStatus: this.#status };
    return decideRetry({ error, ...upstreamStatus, attempt: 1, isDelivered: true, hasClientLeft: false }, this.#services.random).verdict;
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
      durationMs: Math.round(this.#services.clock.monotonicMs() - this.#startedMs),
    };
  }
}

/** Returns what keeps the books of an attempt, and ends with it what was taken of the call's limits. */
function followBooks(
  services: AttemptServices,
  call: AttemptedCall,
  { opening, plan, target }: FollowedAttempt,
  bound: UsageBound | undefined,
): ExchangeObserver {
  if (opening === undefined) return keepNoBooks(call.report);
  const { translation } = plan;
  const { facts, taken, credit, settings, startedMs, round, response } = call;
  const books = keepBooks({
    services,
    opening,
    upstreamDialect: plan.upstreamDialect?.id,
    priceBook: settings.routing.priceBook,
    startedMs,
    bound,
    report: round ?? call.report,
    vendor: target.upstream.vendor,
    // A translated reply is kept by nobody under the id that the client sees.
    keepsReply: facts.keepsReply === true && translation === undefined,
    replyNotes: translation === undefined ? noNotes : () => translation.replyNotes.list(),
    credit,
    used: taken === undefined ? undefined : (usage) => taken.reservation.settle(countUsedTokens(usage)),
  });
  const limited = taken === undefined ? books : endWithCall(books, taken, response);
  // A round charges what is held for all of them; the loop ends it.
  return credit === undefined || round !== undefined ? limited : endCreditWithCall(limited, credit);
}
