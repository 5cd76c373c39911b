import type { CallOpening, FailedAttempt } from '../../billing/ledger/call-entry.ts';
import { GatewayError } from '../../inference/gateway-error.ts';
import type { UpstreamRequest } from '../../platform/http/upstream-client.ts';
import { receiptPath } from '../replies/write-reply.ts';
import type { ReplySink } from '../replies/reply-sink.ts';
import { AttemptObserver, type AttemptOwner, type ObservedAttempt } from './attempt-observer.ts';
import type { AttemptPlan, CallJob, LocalAnswer } from './call-job.ts';
import type { AttemptedCall } from './call.ts';
import type { ExchangeObserver, UndeliveredFailure } from './exchange/exchange-context.ts';
import { withOwnLimits } from './exchange/pass-headers.ts';
import { UpstreamExchange } from './exchange/upstream-exchange.ts';
import { upstreamTimeout } from './exchange/upstream-failure.ts';
import type { AttemptTicket, HealthQuery } from './health/health.ts';
import { openAttempt } from './books/open-attempt.ts';
import { AttemptKeys } from './exchange/prepare-request.ts';
import { chooseNext, type JudgedFailure, freeGrant, type NextAttempt, snapshotHealth, takeBudget } from './retry/next-attempt.ts';
import type { RetryGrant } from './retry/retry-budget.ts';
import { decideRetry, type RetryDecision } from './retry/retry-policy.ts';
import { readRetryAdvice } from './retry/parse-retry-after.ts';
import { subjectOf, type Target, timeoutsOf } from './routing/target.ts';
import type { AttemptServices, RunningCall } from './services.ts';

/** A further attempt that follows a failed one. */
type Pending = {
  readonly failure: UndeliveredFailure;
  /** The failed target and the decision about it. Absent if the same target gets a changed request. */
  readonly failed?: JudgedFailure | undefined;
  readonly target: Target;
  readonly grant: RetryGrant;
  /** The part of its target's retry budget that it used. */
  readonly cost: number;
  dueMs: number;
};

/** A shorter wait is never aborted for a stall, because the attempt may be paid for. */
const stallMs = 10_000;

/** A further attempt and its share of the retry budget. */
type GrantedAttempt = NextAttempt & Pick<Pending, 'grant' | 'cost'>;

/** Whether this target cannot take the request. Another may. */
function isUnfit(error: unknown): error is GatewayError {
  return error instanceof GatewayError && error.class === 'invalid_request';
}

/** A target, and the request for it or the local answer. */
type Planned<Plan> = { readonly target: Target; readonly plan: Plan | LocalAnswer };

/** An attempt that is in the books and about to be sent. */
type RecordedAttempt<Plan> = {
  readonly target: Target;
  readonly plan: Plan;
  readonly opening: CallOpening | undefined;
  readonly ticket: AttemptTicket;
};

/**
 * The attempts of one call, one after the other, until one delivers something or no further attempt is possible. Until
 * then the client notices none of it; from the first content on, the call belongs to that attempt. The client is
 * charged once, for the attempt that delivered. This is the only layer that retries.
 */
export class CallAttempts<Plan extends AttemptPlan<Piece>, Piece = Buffer> implements RunningCall, AttemptOwner, HealthQuery {
  readonly caller: string;
  readonly countedAt: object[] = [];
  readonly #services: AttemptServices;
  readonly #call: AttemptedCall;
  readonly #job: CallJob<Plan>;
  readonly #sink: ReplySink<Piece>;
  /** Whether a further attempt may follow: until something was delivered. */
  #isOpen = true;
  readonly #failed: FailedAttempt[] = [];
  #tried: readonly Target[] = [];
  #firstError: GatewayError | undefined;
  #exchange: UpstreamExchange<Piece> | undefined;
  #observer: AttemptObserver | undefined;
  #pending: Pending | undefined;
  #slot: number | undefined;
  readonly #keys: AttemptKeys;

  /** @param sink the destination of the reply */
  constructor(services: AttemptServices, call: AttemptedCall, job: CallJob<Plan>, sink: ReplySink<Piece>) {
    this.#services = services;
    this.#call = call;
    this.#job = job;
    this.#sink = sink;
    this.#keys = new AttemptKeys(call.round?.rowId ?? call.callId);
    this.caller = call.caller.userId;
  }

  /** A call that failed after its first content has released its request, so its id identifies it. */
  digest(): string {
    return this.#isOpen ? this.#job.digest() : this.#call.callId;
  }

  /**
   * Makes the first attempt, at the best suitable target. Returns when it runs, or when the gateway has answered by
   * itself. Nothing was spent if it throws.
   * @throws GatewayError if no target can take the request, or the books cannot be kept
   */
  start(): Promise<void> {
    const planned = this.#planFirst();
    // A call that passes through is planned without yielding to the event loop.
    return planned instanceof Promise ? planned.then((chosen) => this.#startWith(chosen)) : this.#startWith(planned);
  }

  #startWith({ target, plan }: Planned<Plan>): Promise<void> {
    const { taken, credit, round } = this.#call;
    if (plan.kind === 'local') plan.answer();
    else if (this.#sink.isGone) {
      taken?.reservation.release();
      if (round === undefined) credit?.end();
      this.#job.ended?.();
    } else return this.#run(target, plan);
    return Promise.resolve();
  }

  /** Plans for the best target that can take the request. */
  #planFirst(place = 0, refusal?: GatewayError): Planned<Plan> | Promise<Planned<Plan>> {
    const target = this.#call.targets[place];
    if (target === undefined) throw refusal ?? new Error('a call was routed to no target');
    this.#tried = this.#call.targets.slice(0, place + 1);
    const planNext = (error: unknown): Planned<Plan> | Promise<Planned<Plan>> => {
      if (!isUnfit(error)) throw error;
      return this.#planFirst(place + 1, refusal ?? error);
    };
    try {
      const planned = this.#job.plan(target);
      return planned instanceof Promise ? planned.then((plan) => ({ target, plan }), planNext) : { target, plan: planned };
    } catch (error) {
      return planNext(error);
    }
  }

  /** Records an attempt and begins it, unless it is obsolete by then. */
  async #run(target: Target, plan: Plan, pending?: Pending): Promise<void> {
    const ticket = this.#services.health.of(subjectOf(target)).begin(this);
    let opening: CallOpening | undefined;
    let record: ExchangeObserver | LocalAnswer | undefined;
    this.#call.report.exchanging();
    try {
      opening = await openAttempt(this.#services, this.#call, this.#job, { target, plan, failed: this.#failed });
      if (this.#job.record !== undefined) record = await this.#job.record({ target, plan });
    } catch (error) {
      ticket.end({ type: 'unknown' });
      throw error;
    }
    this.#beginRecorded({ target, plan, opening, ticket }, record, pending);
  }

  #beginRecorded(attempt: RecordedAttempt<Plan>, record: ExchangeObserver | LocalAnswer | undefined, pending: Pending | undefined): void {
    const { target, plan, opening, ticket } = attempt;
    const isWanted = this.#pending === pending;
    if (record !== undefined && 'answer' in record) {
      ticket.end({ type: 'unknown' });
      if (!isWanted) return;
      this.#takePending();
      return record.answer();
    }
    if (!isWanted) {
      ticket.end({ type: 'unknown' });
      return record?.settled({ end: 'failed', complete: false });
    }
    this.#pending = undefined;
    const bound = opening === undefined ? undefined : this.#job.bound({ target, plan, pricingParameters: opening.pricingParameters });
    const observer = new AttemptObserver(this.#services, this.#call, this.#observed(attempt, record, pending), bound);
    this.#observer = observer;
    this.#exchange = this.#createExchange(attempt, observer);
    this.#begin(this.#exchange, this.#keys.sign(target, plan.upstreamRequest));
  }

  #observed(
    { target, plan, opening, ticket }: RecordedAttempt<Plan>,
    record: ExchangeObserver | undefined,
    pending: Pending | undefined,
  ): ObservedAttempt {
    return {
      target,
      meter: plan.meter,
      translation: plan.translation,
      upstreamDialect: plan.upstreamDialect,
      opening,
      record,
      ticket,
      grant: pending?.grant,
      cost: pending?.cost ?? 0,
      sink: this.#sink,
      owner: this,
    };
  }

  #createExchange({ target, plan, opening, ticket }: RecordedAttempt<Plan>, observer: AttemptObserver): UpstreamExchange<Piece> {
    const { client, relay } = plan;
    const pricingParameters = opening?.pricingParameters;
    const { callId, settings, framing, taken, startedMs, report } = this.#call;
    const { clock, logger, telemetry, drainSlots } = this.#services;
    const { limits } = settings;
    const usual = timeoutsOf(target, framing !== undefined, settings.timeouts);
    const timeouts = this.#job.limitTimes?.(usual) ?? usual;
    return new UpstreamExchange({
      requestId: callId,
      recorder: report.recorder,
      relay: taken === undefined ? relay : withOwnLimits(relay, taken),
      framing,
      target,
      client,
      sink: this.#sink,
      limits,
      timeouts,
      clock,
      logger,
      observer,
      endsByMs: startedMs + timeouts.totalMs,
      budget: framing === undefined ? undefined : this.#job.watchBudget?.({ target, plan, pricingParameters }),
      receipt: opening === undefined ? undefined : receiptPath(callId),
      leaving: { policy: this.#call.disconnect ?? 'abort', slots: drainSlots, delivered: this.#call.round?.delivered },
      holdOpeningMs: settings.retries.holdOpeningMs,
      onOpened: framing === undefined ? undefined : () => this.contentArrived(),
      chunkGaps: opening === undefined || framing === undefined ? undefined : telemetry.chunkGaps(opening),
      handOver: (failure) => this.#takeOver(failure, target, observer, ticket),
    });
  }

  contentArrived(): void {
    this.#isOpen = false;
    this.#job.forget();
    this.#call.admission.releaseBytes();
  }

  ended(): void {
    this.#job.ended?.();
  }

  #begin(exchange: UpstreamExchange<Piece>, upstreamRequest: UpstreamRequest): void {
    const { report } = this.#call;
    const { deadlines, telemetry } = this.#services;
    const request = telemetry.attempt(report, upstreamRequest);
    this.#job.sent();
    // The client may disconnect while its call is recorded.
    if (this.#sink.isGone || this.#slot !== undefined) return exchange.start(request);
    const slot = deadlines.watch(this);
    this.#slot = slot;
    exchange.start(request, () => {
      deadlines.unwatch(slot);
      this.#takePending()?.failure.answer();
    });
  }

  /** Decides what follows a failure before any content. Returns true if the call continues or has been answered. */
  #takeOver(failure: UndeliveredFailure, target: Target, observer: AttemptObserver, ticket: AttemptTicket): boolean {
    const mayGoOn = this.#isOpen && this.#failed.length + 1 < this.#call.settings.retries.attemptsMax;
    if (this.#isOpen && this.#job.mend?.(failure, target, mayGoOn) === true) {
      ticket.end({ type: 'answered' });
      return this.#goOn(failure, observer, { target, waitMs: 0, grant: freeGrant, cost: 0 });
    }
    const { error, upstreamStatus, upstreamWords, headers } = failure;
    const attempt = this.#failed.length + 1;
    const hasClientLeft = this.#sink.isGone;
    const { clock, random } = this.#services;
    const advice = readRetryAdvice(headers, clock.nowMs());
    const mayPassFilter = this.#call.settings.retries.contentFilter === 'other-upstream';
    const failedAttempt = { error, upstreamStatus, upstreamWords, ...advice, attempt, isDelivered: false, hasClientLeft, mayPassFilter };
    const decision = decideRetry(failedAttempt, random);
    ticket.end(decision.verdict);
    if (!decision.retry || !mayGoOn) return this.#answerBetter(failure, decision);
    const failed = { failed: target, decision };
    const next = this.#chooseNext(failed, error);
    return next !== undefined && this.#goOn(failure, observer, next, failed);
  }

  /** The attempt that follows a failed one, with its share of the budget. Undefined if there is none. */
  #chooseNext(failed: JudgedFailure, error: GatewayError): GrantedAttempt | undefined {
    const may = (target: Target): boolean => this.#mayFollow(error, failed.failed, target);
    const see = snapshotHealth(this.#services, this.#call.settings, this);
    const untried = this.#call.targets.filter((each) => !this.#tried.includes(each) && may(each));
    const next = chooseNext(untried, failed, see);
    const grant = next === undefined || !may(next.target) ? undefined : takeBudget(this.#services, failed, next);
    return next === undefined || grant === undefined ? undefined : { ...next, grant, cost: failed.decision.cost };
  }

  #mayFollow(error: GatewayError, failed: Target, next: Target): boolean {
    return this.#job.mayFollow?.(error, failed, next) ?? true;
  }

  #goOn(failure: UndeliveredFailure, observer: AttemptObserver, next: GrantedAttempt, failed?: JudgedFailure): true {
    this.#firstError ??= failure.error;
    this.#failed.push(observer.handOn(failure.error));
    if (observer.isAnswered || next.target !== this.#tried.at(-1)) this.#keys.renew();
    this.#await(next, failure, failed);
    return true;
  }

  #await({ waitMs, ...next }: GrantedAttempt, failure: UndeliveredFailure, failed: JudgedFailure | undefined): void {
    const pending = { ...next, failure, failed, dueMs: this.#services.clock.monotonicMs() + waitMs };
    this.#pending = pending;
    if (waitMs === 0) this.#tryNext(pending);
  }

  /**
   * Another model may refuse a request that the first would have accepted. The first failure is then the right answer.
   */
  #answerBetter(failure: UndeliveredFailure, { verdict }: RetryDecision): boolean {
    // An attempt with books of its own reports its own failure.
    if (this.#job.record !== undefined) return false;
    if (this.#firstError === undefined || verdict.type !== 'answered') return false;
    failure.answer(this.#firstError);
    return true;
  }

  /** Returns the pending attempt. Its receiver must end the call. */
  #takePending(): Pending | undefined {
    const pending = this.#pending;
    this.#pending = undefined;
    pending?.grant.release();
    return pending;
  }

  #tryNext(pending: Pending): void {
    // Not due again, unless another target replaces it.
    pending.dueMs = Infinity;
    this.#attemptAgain(pending).catch((error: unknown) => {
      if (!(error instanceof GatewayError)) {
        this.#services.logger.error({ callId: this.#call.callId, err: error }, 'starting a retry failed');
      }
      if (this.#pending === pending) this.#takePending()?.failure.answer();
    });
  }

  async #attemptAgain(pending: Pending): Promise<void> {
    const { target } = pending;
    this.#tried = [...this.#tried, target];
    let plan: Plan | LocalAnswer;
    try {
      plan = await this.#job.plan(target);
    } catch (error) {
      if (isUnfit(error) && this.#goElsewhere(pending)) return;
      throw error;
    }
    // The client has disconnected meanwhile, or the gateway shuts down.
    if (this.#pending !== pending) return;
    if (plan.kind === 'local') throw new GatewayError('upstream_error', 'the other target has no such route');
    await this.#run(target, plan, pending);
  }

  /** Skips a target that cannot take the request. */
  #goElsewhere(pending: Pending): boolean {
    const { failure, failed, target, grant, cost } = pending;
    if (this.#pending !== pending || failed === undefined) return false;
    grant.release();
    this.#services.retryBudget.giveBack(target.upstream.id, cost);
    const next = this.#chooseNext(failed, failure.error);
    if (next !== undefined) this.#await(next, failure, failed);
    return next !== undefined;
  }

  check(nowMs: number): void {
    const pending = this.#pending;
    if (pending === undefined) {
      if (!this.#endStalled(nowMs)) this.#exchange?.check(nowMs);
      return;
    }
    const { startedMs, settings } = this.#call;
    if (nowMs >= startedMs + settings.timeouts.totalMs) this.#takePending()?.failure.answer();
    else if (nowMs >= pending.dueMs) this.#tryNext(pending);
  }

  /**
   * Ends a hopeless attempt long before its time limit: its target has answered no call for much longer than usual, and
   * another target works.
   */
  #endStalled(nowMs: number): boolean {
    const { settings, targets } = this.#call;
    const target = this.#tried.at(-1);
    const waitedMs = this.#observer?.waitedMs(nowMs);
    if (waitedMs === undefined || waitedMs < stallMs || target === undefined) return false;
    if (!settings.retries.avoidFailing || targets.length === this.#tried.length || !this.#isOpen) return false;
    const see = snapshotHealth(this.#services, settings, this);
    const stateOf = (each: Target): string => {
      const { availability } = see(each);
      return availability.usable ? availability.state : availability.reason;
    };
    // A suspect that is due for a trial by the next call does not help the calls that wait.
    if (!['suspect', 'probe'].includes(stateOf(target))) return false;
    const error = upstreamTimeout(target, 'reply', waitedMs);
    const untried = targets.filter((each) => !this.#tried.includes(each) && this.#mayFollow(error, target, each));
    if (!untried.some((each) => stateOf(each) === 'healthy')) return false;
    this.#exchange?.terminate(error);
    return true;
  }

  /** Whether an attempt was sent. Then the end of the call is in the books, or will be. */
  get hasBegun(): boolean {
    return this.#exchange !== undefined;
  }

  terminate(error: GatewayError): void {
    const pending = this.#takePending();
    if (pending === undefined) this.#exchange?.terminate(error);
    else pending.failure.answer(error);
  }
}
