import type { CallOpening, FailedAttempt } from '../../billing/ledger/call-entry.ts';
import type { WireRequest } from '../../dialects/chat-dialect.ts';
import { GatewayError } from '../../inference/gateway-error.ts';
import { readAgain } from '../endpoints/chat/plan/read-again.ts';
import { createStreamBudget } from '../endpoints/chat/chat-credit.ts';
import type { UndeliveredFailure } from './exchange/exchange-context.ts';
import { receiptPath } from '../replies/reply-headers.ts';
import { UpstreamExchange } from './exchange/upstream-exchange.ts';
import { upstreamTimeout } from './exchange/upstream-failure.ts';
import type { Gateway } from '../endpoints/gateway.ts';
import { type AskingCall, createAskingCall, digestRequest } from './health/asking-call.ts';
import type { AttemptTicket } from './health/health.ts';
import { withOwnLimits } from '../admission/limits/reserve-call.ts';
import type { EstimatedCount, ExchangePlan } from '../endpoints/chat/plan/plan-exchange.ts';
import { subjectOf } from './routing/route.ts';
import type { Target } from './routing/routing-table.ts';
import { timeoutsOf } from './routing/target-timeouts.ts';
import { toWireRequest } from '../endpoints/chat/to-wire-request.ts';
import type { UpstreamRequest } from '../../platform/http/upstream-client.ts';
import { AttemptKeys } from './retry/attempt-keys.ts';
import { AttemptObserver } from './attempt-observer.ts';
import type { KnownCall, RunningCall } from './call.ts';
import { mayShorten } from '../endpoints/chat/plan/fit-request.ts';
import { isForgotten } from '../endpoints/chat/plan/is-forgotten.ts';
import { openAttempt } from './open-attempt.ts';
import { planAttempt } from '../endpoints/chat/plan/plan-attempt.ts';
import { forbidsRetry, parseRetryAfter } from './retry/parse-retry-after.ts';
import type { RetryGrant } from './retry/retry-budget.ts';
import { decideRetry, isWithinReach, namedWaitMsMax, type RetryDecision } from './retry/retry-policy.ts';
import { seeHealth } from './retry/see-health.ts';

/** Another attempt that is to follow a failed one. */
type Pending = {
  readonly failure: UndeliveredFailure;
  readonly target: Target;
  readonly grant: RetryGrant;
  /** What it took of its target's budget. */
  readonly cost: number;
  dueMs: number;
};

/** A call that has waited for less than this is not given up for a stall: it may be paid for. */
const stallMs = 10_000;

/** That of an attempt elsewhere, which counts for no more than what it takes of the bucket. */
const freeGrant: RetryGrant = { release: () => {} };

/** A target, and what is to be sent to it or answered for it. */
type PlannedAttempt = { readonly target: Target; readonly plan: ExchangePlan | EstimatedCount };

/** An attempt that is in the books and about to be sent. */
type OpenedAttempt = {
  readonly target: Target;
  readonly plan: ExchangePlan;
  readonly opening: CallOpening | undefined;
  readonly observer: AttemptObserver;
  readonly ticket: AttemptTicket;
};

/** A call that has met one failing target is no probe for another, as long as there is a better one. */
const nextRanks = { healthy: 0, suspect: 2, probe: 4 } as const;

/** Another target to try, and how long to wait before. */
type Next = { readonly target: Target; readonly waitMs: number };

/**
 * The attempts of one call, one after the other, until one delivers something or nothing is left to try. As long as nothing was delivered the client notices none of it; from
 * the first content on, the call is that attempt's alone. The client is charged once, for the attempt that delivered. This is the one layer that tries again: nothing below it
 * does.
 */
export class CallAttempts implements RunningCall {
  readonly #gateway: Gateway;
  readonly #known: KnownCall;
  /** The request's body, as long as another attempt may need it. */
  #bytes: Buffer | undefined;
  readonly #failed: FailedAttempt[] = [];
  readonly #tried: Target[] = [];
  #firstError: GatewayError | undefined;
  #exchange: UpstreamExchange | undefined;
  #observer: AttemptObserver | undefined;
  #pending: Pending | undefined;
  #slot: number | undefined;
  /** How the request was refused as too long, where less of it is sent since. */
  #overflow: GatewayError | undefined;
  /** Whether the client lets less of its request be sent. */
  #mayShorten = false;
  /** Lets health count the attempts of one call once. */
  readonly #asking: AskingCall;
  readonly #keys: AttemptKeys;

  constructor(gateway: Gateway, known: KnownCall, bytes: Buffer) {
    this.#gateway = gateway;
    this.#known = known;
    this.#bytes = bytes;
    this.#keys = new AttemptKeys(known.round?.rowId ?? known.call.callId);
    // What broke after its first content has no request left to look at.
    this.#asking = createAskingCall(known.caller.userId, () =>
      this.#bytes === undefined ? known.call.callId : digestRequest(this.#bytes),
    );
  }

  /**
   * Makes the first attempt, at the best target whose dialect can say the request, and returns when it runs. Nothing was spent when it throws.
   * @returns the estimate of a token count that no upstream can make, for the caller to answer with
   * @throws GatewayError when no target can take the request, or the books cannot be kept
   */
  start(request: WireRequest, bytes: Buffer): Promise<EstimatedCount | undefined> {
    this.#mayShorten = request.body.truncation === 'auto';
    const planned = this.#planFirst(request, bytes);
    // A call that passes through is planned at once and does not give up its turn.
    return planned instanceof Promise ? planned.then((chosen) => this.#startWith(chosen)) : this.#startWith(planned);
  }

  #startWith({ target, plan }: PlannedAttempt): Promise<EstimatedCount | undefined> {
    const { call, taken, credit, round } = this.#known;
    if (plan.kind === 'estimate') return Promise.resolve(plan);
    if (!call.response.destroyed) return this.#run(target, plan);
    taken?.reservation.release();
    if (round === undefined) credit?.end();
    return Promise.resolve(undefined);
  }

  /** Plans for the best target whose dialect can say the request: what one cannot say, another may. */
  #planFirst(request: WireRequest, bytes: Buffer, place = 0, refusal?: GatewayError): PlannedAttempt | Promise<PlannedAttempt> {
    const target = this.#known.targets[place];
    if (target === undefined) throw refusal ?? new Error('a call was routed to no target');
    this.#tried.push(target);
    const planNext = (error: unknown): PlannedAttempt | Promise<PlannedAttempt> => {
      if (!(error instanceof GatewayError) || error.class !== 'invalid_request') throw error;
      return this.#planFirst(request, bytes, place + 1, refusal ?? error);
    };
    try {
      const planned = planAttempt(this.#gateway, this.#known, { target, request, bytes });
      return planned instanceof Promise ? planned.then((plan) => ({ target, plan }), planNext) : { target, plan: planned };
    } catch (error) {
      return planNext(error);
    }
  }

  /** Writes an attempt down and begins it, unless it is one that is no longer wanted by then. */
  async #run(target: Target, plan: ExchangePlan, pending?: Pending): Promise<undefined> {
    const ticket = this.#gateway.health.of(subjectOf(target)).begin(this.#asking);
    let opening: CallOpening | undefined;
    this.#known.report.exchanging();
    try {
      opening = await openAttempt(this.#gateway, this.#known, { target, plan, failed: this.#failed });
    } catch (error) {
      ticket.end({ type: 'unknown' });
      throw error;
    }
    if (this.#pending !== pending) {
      ticket.end({ type: 'unknown' });
      return undefined;
    }
    this.#pending = undefined;
    const observer = new AttemptObserver(this.#gateway, this.#known, {
      target,
      plan,
      opening,
      ticket,
      grant: pending?.grant,
      cost: pending?.cost ?? 0,
      onContent: () => this.#forgetRequest(),
    });
    this.#observer = observer;
    this.#exchange = this.#createExchange({ target, plan, opening, observer, ticket });
    this.#begin(this.#exchange, this.#keys.sign(target, plan.upstreamRequest));
    return undefined;
  }

  #createExchange({ target, plan, opening, observer, ticket }: OpenedAttempt): UpstreamExchange {
    const { relay } = plan;
    const pricingParameters = opening?.pricingParameters;
    const { call, settings, framing, taken, startedMs } = this.#known;
    const { clock, logger, telemetry, drainSlots } = this.#gateway;
    const { limits } = settings;
    const timeouts = timeoutsOf(target, framing !== undefined, settings.timeouts);
    return new UpstreamExchange({
      requestId: call.callId,
      dialect: call.dialect,
      relay: taken === undefined ? relay : withOwnLimits(relay, taken),
      framing,
      target,
      response: call.response,
      limits,
      timeouts,
      clock,
      logger,
      observer,
      endsByMs: startedMs + timeouts.totalMs,
      budget: framing === undefined ? undefined : createStreamBudget(this.#known, { target, plan, pricingParameters }),
      receipt: opening === undefined ? undefined : receiptPath(call.callId),
      leaving: { policy: this.#known.disconnect ?? 'abort', slots: drainSlots, delivered: this.#known.round?.delivered },
      holdOpeningMs: settings.retries.holdOpeningMs,
      onOpened: () => this.#forgetRequest(),
      chunkGaps: opening === undefined || framing === undefined ? undefined : telemetry.chunkGaps(opening),
      handOver: (failure) => this.#takeOver(failure, target, observer, ticket),
    });
  }

  /** From the first content on no other attempt can follow. */
  #forgetRequest(): void {
    this.#bytes = undefined;
    this.#known.admission.releaseBytes();
  }

  #begin(exchange: UpstreamExchange, upstreamRequest: UpstreamRequest): void {
    const { call, report } = this.#known;
    const { deadlines, telemetry } = this.#gateway;
    const request = telemetry.attempt(report, upstreamRequest);
    // A client may leave while its call is written down.
    if (call.response.destroyed || this.#slot !== undefined) return exchange.start(request);
    const slot = deadlines.watch(this);
    this.#slot = slot;
    exchange.start(request, () => {
      deadlines.unwatch(slot);
      this.#takePending()?.failure.answer();
    });
  }

  /** Decides what follows a failure of which the client has seen nothing. True when the call goes on or has been answered. */
  #takeOver(failure: UndeliveredFailure, target: Target, observer: AttemptObserver, ticket: AttemptTicket): boolean {
    if (this.#bytes !== undefined && isForgotten(failure, this.#known.turn, target)) {
      ticket.end({ type: 'answered' });
      return this.#goOn(failure, observer, { target, waitMs: 0 }, freeGrant, 0);
    }
    const decision = this.#decide(failure);
    ticket.end(decision.verdict);
    const mayGoOn = this.#bytes !== undefined && this.#failed.length + 1 < this.#known.settings.retries.attemptsMax;
    if (mayGoOn && this.#canShorten(failure.error)) {
      this.#overflow = failure.error;
      return this.#goOn(failure, observer, { target, waitMs: 0 }, freeGrant, 0);
    }
    const next = decision.retry && mayGoOn ? this.#chooseNext(target, decision) : undefined;
    if (!decision.retry || next === undefined) return this.#answerBetter(failure, decision);
    const grant = this.#takeGrant(target, next, decision.cost);
    return grant !== undefined && this.#goOn(failure, observer, next, grant, decision.cost);
  }

  #goOn(failure: UndeliveredFailure, observer: AttemptObserver, { target, waitMs }: Next, grant: RetryGrant, cost: number): true {
    this.#firstError ??= failure.error;
    this.#failed.push(observer.describeFailure(failure.error));
    if (observer.isAnswered || target !== this.#tried.at(-1)) this.#keys.renew();
    observer.release();
    const pending = { failure, target, grant, cost, dueMs: this.#gateway.clock.monotonicMs() + waitMs };
    this.#pending = pending;
    if (waitMs === 0) this.#tryNext(pending);
    return true;
  }

  /** A vendor that counts more than was estimated is asked once more, with less. */
  #canShorten(error: GatewayError): boolean {
    return this.#mayShorten && this.#overflow === undefined && this.#bytes !== undefined && mayShorten(this.#known.call, error);
  }

  #takeGrant(failed: Target, { target, waitMs }: Next, cost: number): RetryGrant | undefined {
    const { retryBudget, deadlines } = this.#gateway;
    const { id } = target.upstream;
    if (waitMs > 0 || id === failed.upstream.id) return retryBudget.take(id, cost, deadlines.size());
    return retryBudget.takeFailover(id, cost) ? freeGrant : undefined;
  }

  #decide({ error, upstreamStatus, upstreamWords, headers }: UndeliveredFailure): RetryDecision {
    const { clock, random } = this.#gateway;
    const retryAfterMs = headers === undefined ? undefined : parseRetryAfter(headers, clock.nowMs());
    return decideRetry(
      {
        error,
        attempt: this.#failed.length + 1,
        isDelivered: false,
        hasClientLeft: this.#known.call.response.destroyed,
        ...(upstreamStatus === undefined ? {} : { upstreamStatus }),
        ...(upstreamWords === undefined ? {} : { upstreamWords }),
        ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
        ...(headers === undefined ? {} : { isRetryForbidden: forbidsRetry(headers) }),
      },
      random,
    );
  }

  /** Another model may refuse what the first would have taken: then the first one's failure is the truth about this request. */
  #answerBetter(failure: UndeliveredFailure, { verdict }: RetryDecision): boolean {
    if (this.#firstError === undefined || verdict.type !== 'answered') return false;
    failure.answer(this.#firstError);
    return true;
  }

  /** The best target that was not tried yet; else, where that can help, the same once more. */
  #chooseNext(failed: Target, { reach, waitMs, verdict }: Extract<RetryDecision, { retry: true }>): Next | undefined {
    const see = seeHealth(this.#gateway, this.#known.settings, this.#asking);
    let best: Next | undefined;
    let bestRank = Infinity;
    for (const target of this.#known.targets) {
      if (this.#tried.includes(target) || !isWithinReach(reach, subjectOf(failed), subjectOf(target))) continue;
      const { availability, isWorthRetry } = see(target);
      if (!availability.usable || !isWorthRetry) continue;
      // What failed is likely to fail with another of its credentials too.
      const isSame = verdict.type === 'failed' && target.upstream.id === failed.upstream.id;
      const rank = nextRanks[availability.state] + (isSame ? 1 : 0);
      if (rank < bestRank) {
        best = { target, waitMs: availability.state === 'healthy' ? 0 : waitMs };
        bestRank = rank;
      }
    }
    if (best !== undefined || reach !== 'any-target') return best;
    const { availability, isWorthRetry } = see(failed);
    if (!isWorthRetry) return undefined;
    if (availability.usable) return { target: failed, waitMs };
    // One that wants fewer calls takes them again after a while, which this call has as well as any other.
    if (availability.reason !== 'rate-limited' || availability.againInMs > namedWaitMsMax) return undefined;
    return { target: failed, waitMs: Math.max(waitMs, availability.againInMs) };
  }

  /** The call is the taker's to end. */
  #takePending(): Pending | undefined {
    const pending = this.#pending;
    this.#pending = undefined;
    pending?.grant.release();
    return pending;
  }

  #tryNext(pending: Pending): void {
    // Until it is due again, or for good.
    pending.dueMs = Infinity;
    this.#attemptAgain(pending).catch((error: unknown) => {
      if (!(error instanceof GatewayError)) {
        this.#gateway.logger.error({ callId: this.#known.call.callId, err: error }, 'another attempt could not be made');
      }
      if (this.#pending === pending) this.#takePending()?.failure.answer();
    });
  }

  async #attemptAgain(pending: Pending): Promise<void> {
    const { target } = pending;
    this.#tried.push(target);
    const bytes = this.#bytes ?? Buffer.from('{}');
    // The tree of the first attempt was let go of: a large one that is kept is copied by every collection.
    const request = toWireRequest(this.#known.call, await readAgain(bytes));
    const plan = await planAttempt(this.#gateway, this.#known, { target, request, bytes, overflow: this.#overflow });
    // The client has left meanwhile, or the gateway shuts down.
    if (this.#pending !== pending) return;
    if (plan.kind === 'estimate') throw new GatewayError('upstream_error', 'the other target has no such route');
    await this.#run(target, plan, pending);
  }

  check(nowMs: number): void {
    const pending = this.#pending;
    if (pending === undefined) {
      if (!this.#endStalled(nowMs)) this.#exchange?.check(nowMs);
      return;
    }
    const { startedMs, settings } = this.#known;
    if (nowMs >= startedMs + settings.timeouts.totalMs) this.#takePending()?.failure.answer();
    else if (nowMs >= pending.dueMs) this.#tryNext(pending);
  }

  /**
   * Ends an attempt of which nothing is to be hoped, long before its time limit: no call to its target has been answered for much longer than usual, and
   * another target works.
   */
  #endStalled(nowMs: number): boolean {
    const { settings, targets } = this.#known;
    const target = this.#tried.at(-1);
    const waitedMs = this.#observer?.waitedMs(nowMs);
    if (waitedMs === undefined || waitedMs < stallMs || target === undefined) return false;
    if (!settings.retries.avoidFailing || targets.length === this.#tried.length || this.#bytes === undefined) return false;
    const see = seeHealth(this.#gateway, settings, this.#asking);
    const stateOf = (each: Target): string => {
      const { availability } = see(each);
      return availability.usable ? availability.state : availability.reason;
    };
    // A suspect that nobody has called for a while may be tried by the next call; that helps those that wait in no way.
    if (!['suspect', 'probe'].includes(stateOf(target))) return false;
    if (!targets.some((each) => !this.#tried.includes(each) && stateOf(each) === 'healthy')) return false;
    this.#exchange?.terminate(upstreamTimeout(target, 'reply', waitedMs));
    return true;
  }

  /** Whether a target is, or has been, asked: then the end of the call is in the books, or will be. */
  get hasBegun(): boolean {
    return this.#exchange !== undefined;
  }

  terminate(error: GatewayError): void {
    const pending = this.#takePending();
    if (pending === undefined) this.#exchange?.terminate(error);
    else pending.failure.answer(error);
  }
}
