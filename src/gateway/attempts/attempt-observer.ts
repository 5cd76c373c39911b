import type { CallOpening, FailedAttempt } from '../../billing/ledger/call-entry.ts';
import type { ReplyReport } from '../../dialects/chat-dialect.ts';
import type { GatewayError } from '../../inference/gateway-error.ts';
import type { TranslationNote } from '../../inference/translation-notes.ts';
import { countUsedTokens } from '../admission/limits/reserve-call.ts';
import { endWithCall, keepBooks, keepNoBooks, type UsageBound } from './books/settle.ts';
import type { ReplySink } from '../replies/reply-sink.ts';
import type { AttemptPlan } from './call-job.ts';
import type { AttemptedCall } from './call.ts';
import type { ClientDisconnect } from './exchange/client-disconnect.ts';
import type { ExchangeObserver, Outcome } from './exchange/exchange-context.ts';
import type { AttemptTicket, AttemptVerdict } from './health/health.ts';
import type { RetryGrant } from './retry/retry-budget.ts';
import { decideRetry } from './retry/retry-policy.ts';
import type { Target } from './routing/target.ts';
import type { AttemptServices } from './services.ts';

/** The call that an attempt belongs to. */
export type AttemptOwner = {
  /** The reply has begun. From then on no other attempt can follow. */
  readonly contentArrived: () => void;
  /** The call has been settled. */
  readonly ended: () => void;
};

/** The parts of a plan that matter after its request, which would stay in memory until the reply has ended. */
type ObservedPlan = { readonly [Member in 'meter' | 'translation' | 'upstreamDialect']: AttemptPlan<unknown>[Member] | undefined };

/** One attempt, with everything that its observer needs. */
export type ObservedAttempt = ObservedPlan & {
  readonly target: Target;
  /** Undefined for a call that costs nothing. */
  readonly opening: CallOpening | undefined;
  /** The books of the attempt itself. Undefined if it has none. */
  readonly record: ExchangeObserver | undefined;
  readonly ticket: AttemptTicket;
  /** Present if the attempt is a retry. */
  readonly grant: RetryGrant | undefined;
  /** The part of its target's retry budget that it used; 0 for a first attempt. */
  readonly cost: number;
  /** The destination of the reply. */
  readonly sink: Pick<ReplySink<never>, 'hasBegun' | 'setHeader'>;
  readonly owner: AttemptOwner;
};

const noNotes = (): readonly TranslationNote[] => [];

/** Observes one attempt: reports its result to the health of its target and, if it ends its call, to the books. */
export class AttemptObserver implements ExchangeObserver {
  readonly meter: ExchangeObserver['meter'];
  readonly #services: AttemptServices;
  readonly #attempt: ObservedAttempt;
  readonly #books: ExchangeObserver;
  readonly #startedMs: number;
  readonly #isStream: boolean;
  #status: number | undefined;
  #isOver = false;
  #upstreamRequestId: string | undefined;

  constructor(services: AttemptServices, call: AttemptedCall, attempt: ObservedAttempt, bound: UsageBound | undefined) {
    this.#services = services;
    this.#attempt = attempt;
    this.#isStream = call.framing !== undefined;
    this.#books = followBooks(services, call, attempt, bound);
    this.meter = this.#books.meter;
    this.#startedMs = services.clock.monotonicMs();
    void attempt.meter?.learnMore?.().then(() => this.#recordCount());
  }

  /** If the process dies, an answered attempt is charged by the usage that is recorded here. */
  #recordCount(): void {
    const { opening, meter } = this.#attempt;
    if (opening === undefined || meter === undefined || this.#isOver || (this.#status ?? 300) > 299) return;
    this.#services.journal.progress(opening.callId, { usage: meter.atHead(), outputCharacters: 0 });
  }

  head(status: number, upstreamRequestId: string | undefined): void {
    this.#status = status;
    this.#upstreamRequestId = upstreamRequestId;
    // The head of a stream only announces content. A target that stalls between the two must become suspect as well.
    if (!this.#isStream || status > 299) this.#attempt.ticket.headArrived();
    this.#books.head(status, upstreamRequestId);
    this.#recordCount();
  }

  firstContent(): void {
    const { owner, cost, target } = this.#attempt;
    owner.contentArrived();
    if (cost > 0) this.#services.retryBudget.giveBack(target.upstream.id, cost);
    this.#attempt.ticket.contentArrived();
    this.#books.firstContent();
  }

  progress(report: ReplyReport): void {
    if (this.#attempt.meter === undefined) this.#books.progress(report);
  }

  left(disconnect: ClientDisconnect): void {
    this.#books.left?.(disconnect);
  }

  settled(outcome: Outcome, then?: () => void): void {
    const { ticket, target } = this.#attempt;
    ticket.end(this.#judge(outcome));
    this.release();
    if (outcome.end === 'finished') this.#services.retryBudget.succeeded(target.upstream.id);
    const counted = outcome.end === 'failed' ? undefined : this.#attempt.meter?.count(outcome.report);
    if (!(counted instanceof Promise)) return this.#settle(counted === undefined ? outcome : { ...outcome, metered: counted }, then);
    const settling = counted.then((metered) => this.#settle({ ...outcome, metered }, then));
    settling.catch((error: unknown) => this.#services.logger.error({ err: error }, 'settling a measured call failed'));
  }

  #settle(outcome: Outcome, then: (() => void) | undefined): void {
    try {
      this.#books.settled(outcome, then);
    } finally {
      this.#attempt.owner.ended();
    }
  }

  #judge({ end, error }: Outcome): AttemptVerdict {
    if (end === 'finished') return { type: 'answered' };
    if (error === undefined) return { type: 'unknown' };
    return decideRetry({ error, upstreamStatus: this.#status, attempt: 1, isDelivered: true, hasClientLeft: false }, this.#services.random)
      .verdict;
  }

  /** The time since its start without the upstream's status line. Undefined after the status line. */
  waitedMs(nowMs: number): number | undefined {
    return this.#status === undefined ? nowMs - this.#startedMs : undefined;
  }

  /** Whether the upstream's status line has arrived. */
  get isAnswered(): boolean {
    return this.#status !== undefined;
  }

  /** Releases the retry that it is, if it is one. May be called again. */
  release(): void {
    this.#isOver = true;
    this.#attempt.grant?.release();
  }

  /** Ends this attempt because another follows. Returns the row's record of it. */
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

/** Returns the observer that keeps the books of an attempt and ends the limits and the hold of its call. */
function followBooks(
  services: AttemptServices,
  call: AttemptedCall,
  { opening, record, translation, upstreamDialect, target, sink }: ObservedAttempt,
  bound: UsageBound | undefined,
): ExchangeObserver {
  if (record !== undefined) return record;
  if (opening === undefined) return keepNoBooks(call.report);
  const { facts, taken, credit, settings, startedMs, round } = call;
  const books = keepBooks({
    services,
    opening,
    upstreamDialect: upstreamDialect?.id,
    priceBook: settings.routing.priceBook,
    startedMs,
    bound,
    report: round ?? call.report,
    vendor: target.upstream.vendor,
    // Nobody stores a translated reply under the id that the client receives.
    keepsReply: facts.keepsReply === true && translation === undefined,
    replyNotes: translation === undefined ? noNotes : () => translation.replyNotes.list(),
    credit,
    used: taken === undefined ? undefined : (usage) => taken.reservation.settle(countUsedTokens(usage)),
  });
  // A round charges the hold of all rounds, and the tool loop ends it.
  return endWithCall(books, { taken, credit: round === undefined ? credit : undefined }, sink);
}
