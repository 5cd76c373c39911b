import type { CallOpening, FailedAttempt } from '../../billing/ledger/call-entry.ts';
import type { ReplyReport } from '../../dialects/chat-dialect.ts';
import type { GatewayError } from '../../inference/gateway-error.ts';
import type { TranslationNote } from '../../inference/translation-notes.ts';
import { countUsedTokens } from '../admission/limits/reserve-call.ts';
import { endWithCall, keepBooks, keepNoBooks, type UsageBound } from './books/settle.ts';
import type { ReplySink } from '../replies/reply-sink.ts';
import type { AttemptPlan } from './call-job.ts';
import type { AttemptedCall } from './call.ts';
import type { Departure } from './exchange/client-disconnect.ts';
import type { ExchangeObserver, Outcome } from './exchange/exchange-context.ts';
import type { AttemptTicket, AttemptVerdict } from './health/health.ts';
import type { RetryGrant } from './retry/retry-budget.ts';
import { decideRetry } from './retry/retry-policy.ts';
import type { Target } from './routing/target.ts';
import type { AttemptServices } from './services.ts';

/** One attempt as it is followed. */
export type FollowedAttempt<Plan extends AttemptPlan<unknown> = AttemptPlan<unknown>> = {
  readonly target: Target;
  readonly plan: Plan;
  /** Undefined for what costs nothing. */
  readonly opening: CallOpening | undefined;
  /** The books of the attempt itself; undefined if it has none. */
  readonly record: ExchangeObserver | undefined;
  readonly ticket: AttemptTicket;
  /** Present when it follows a failed one. */
  readonly grant: RetryGrant | undefined;
  /** What it took of its target's budget; 0 for a first one. */
  readonly cost: number;
  /** Where the reply goes. */
  readonly sink: Pick<ReplySink<never>, 'hasBegun' | 'setHeader'>;
  /** Hears of the first content: from then on no other attempt can follow. */
  readonly onContent: () => void;
  /** Hears that the call has been settled. */
  readonly onSettled: () => void;
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
  #isOver = false;
  #upstreamRequestId: string | undefined;

  constructor(services: AttemptServices, call: AttemptedCall, attempt: FollowedAttempt, bound: UsageBound | undefined) {
    this.#services = services;
    this.#attempt = attempt;
    this.#isStream = call.framing !== undefined;
    this.#books = followBooks(services, call, attempt, bound);
    this.meter = this.#books.meter;
    this.#startedMs = services.clock.monotonicMs();
    void attempt.plan.meter?.learnMore?.().then(() => this.#recordCount());
  }

  /** Should the process die, what its upstream has answered is charged by what is known of it now. */
  #recordCount(): void {
    const { opening, plan } = this.#attempt;
    if (opening === undefined || plan.meter === undefined || this.#isOver || (this.#status ?? 300) > 299) return;
    this.#services.journal.progress(opening.callId, { usage: plan.meter.atHead(), outputCharacters: 0 });
  }

  head(status: number, upstreamRequestId: string | undefined): void {
    this.#status = status;
    this.#upstreamRequestId = upstreamRequestId;
    // A stream has only said that it will come: what stalls between its head and its content is to be suspected too.
    if (!this.#isStream || status > 299) this.#attempt.ticket.headArrived();
    this.#books.head(status, upstreamRequestId);
    this.#recordCount();
  }

  firstContent(): void {
    const { onContent, cost, target } = this.#attempt;
    onContent();
    if (cost > 0) this.#services.retryBudget.giveBack(target.upstream.id, cost);
    this.#attempt.ticket.contentArrived();
    this.#books.firstContent();
  }

  progress(report: ReplyReport): void {
    if (this.#attempt.plan.meter === undefined) this.#books.progress(report);
  }

  left(departure: Departure): void {
    this.#books.left?.(departure);
  }

  settled(outcome: Outcome, then?: () => void): void {
    const { ticket, target } = this.#attempt;
    ticket.end(this.#judge(outcome));
    this.release();
    if (outcome.end === 'finished') this.#services.retryBudget.succeeded(target.upstream.id);
    const counted = outcome.end === 'failed' ? undefined : this.#attempt.plan.meter?.count(outcome.report);
    if (!(counted instanceof Promise)) return this.#settle(counted === undefined ? outcome : { ...outcome, metered: counted }, then);
    const settling = counted.then((metered) => this.#settle({ ...outcome, metered }, then));
    settling.catch((error: unknown) => this.#services.logger.error({ err: error }, 'a call that was counted could not be settled'));
  }

  #settle(outcome: Outcome, then: (() => void) | undefined): void {
    try {
      this.#books.settled(outcome, then);
    } finally {
      this.#attempt.onSettled();
    }
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
    this.#isOver = true;
    this.#attempt.grant?.release();
  }

  /** Ends this attempt because another follows. Returns what the row of the call says about it. */
  handOn(error: GatewayError): FailedAttempt {
    this.release();
    this.#attempt.record?.settled({ end: 'failed', complete: false, error });
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
  { opening, record, plan, target, sink }: FollowedAttempt,
  bound: UsageBound | undefined,
): ExchangeObserver {
  if (record !== undefined) return record;
  if (opening === undefined) return keepNoBooks(call.report);
  const { translation } = plan;
  const { facts, taken, credit, settings, startedMs, round } = call;
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
  // A round charges the hold of all rounds, and the tool loop ends it.
  return endWithCall(books, { taken, credit: round === undefined ? credit : undefined }, sink);
}
