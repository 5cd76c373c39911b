import type { Clock } from '../../../platform/clock.ts';
import type { Logger } from '../../../platform/log.ts';
import type {
  HealthQuery,
  AttemptTicket,
  AttemptVerdict,
  Availability,
  FailureCause,
  HealthReport,
  TargetHealth,
  UnusableReason,
} from './health.ts';
import { Attempt, type AttemptListener, nobody } from './attempt.ts';
import { AttributedOutage, RateLimitCoolDown, type CredentialHealth } from './outage.ts';
import type { FailureStreak, FailureScope } from './failure-signs.ts';
import { FailureShare, WaitWatch } from './failure-signs.ts';
import type { HealthSettings } from './health-settings.ts';

export type SharedTargetContext = {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly random: () => number;
  readonly logger: Logger;
  readonly settings: HealthSettings;
  /** Whether calls avoid failing targets. Otherwise nothing is logged about it. */
  readonly avoidsFailing: () => boolean;
  /** The number of the last attempt of the process. */
  lastNumber: number;
  /** Called with every attempt, so that memory follows use without a timer. */
  readonly sweep: (nowMs: number) => void;
};

// Shared objects, because nearly every call receives one.
const healthy: Availability = { usable: true, state: 'healthy' };
const suspect: Availability = { usable: true, state: 'suspect' };
const probe: Availability = { usable: true, state: 'probe' };

/** The health of one model at an upstream with one credential, computed from its attempts. */
export class TrackedTarget implements TargetHealth, AttemptListener {
  readonly credential: CredentialHealth;
  readonly upstreamModel: string;
  readonly #context: SharedTargetContext;
  readonly #failing: AttributedOutage;
  /** The upstream refuses the credential for this model. */
  readonly #rejection: AttributedOutage;
  readonly #share: FailureShare;
  readonly #coolDown: RateLimitCoolDown;
  readonly #watch: WaitWatch;
  #underWay = 0;
  /** The youngest attempt that was answered. Older attempts do not extend a streak. */
  #lastAnswered = 0;
  #lastBegunMs: number;
  #lastUsedMs: number;

  constructor(credential: CredentialHealth, upstreamModel: string, context: SharedTargetContext) {
    const { settings, random } = context;
    const { relapseMs, consecutiveFailures, failuresPerCaller, modelRefusals, refusalsPerCaller } = settings;
    const pace = { relapseMs, random };
    this.credential = credential;
    this.upstreamModel = upstreamModel;
    this.#context = context;
    this.#failing = new AttributedOutage(settings.failing, { length: consecutiveFailures, perCallerMost: failuresPerCaller }, pace);
    this.#rejection = new AttributedOutage(settings.rejected, { length: modelRefusals, perCallerMost: refusalsPerCaller }, pace);
    const { failureShare: share, attemptsMin, othersMin } = settings;
    this.#share = new FailureShare({ share, attemptsMin, othersMin });
    this.#coolDown = new RateLimitCoolDown(settings.coolDown);
    this.#watch = new WaitWatch(settings.suspicion);
    this.#lastUsedMs = context.clock.monotonicMs();
    this.#lastBegunMs = this.#lastUsedMs;
  }

  inFlight(): number {
    return this.#underWay;
  }

  lastSentMs(): number {
    return this.#lastBegunMs;
  }

  availability(nowMs: number, caller: string = nobody): Availability {
    if (this.#isOutFor(caller)) return this.#availabilityWhileOut(nowMs, caller);
    const coolDownMs = this.#coolDown.waitMs(nowMs);
    if (coolDownMs > 0) return { usable: false, reason: 'rate-limited', againInMs: coolDownMs };
    if (!this.#watch.isSuspect(nowMs)) return healthy;
    return this.#isTrialDue(nowMs) ? probe : suspect;
  }

  #isOutFor(caller: string): boolean {
    return this.credential.rejection.isOut || this.#failing.isOutFor(caller) || this.#rejection.isOutFor(caller);
  }

  /** Whether it is out for any caller. */
  #isOut(): boolean {
    return this.#failing.outage.isOut || this.#rejection.outage.isOut || this.credential.rejection.isOut;
  }

  #isTrialDue(nowMs: number): boolean {
    return nowMs - this.#lastBegunMs >= this.#context.settings.suspicion.trialMs;
  }

  #availabilityWhileOut(nowMs: number, caller: string): Availability {
    let reason: UnusableReason = 'rejected';
    let againInMs = this.#rejectedMs(nowMs, caller);
    const failingMs = this.#failing.isOutFor(caller) ? this.#failing.outage.waitMs(nowMs) : 0;
    if (failingMs > againInMs) [reason, againInMs] = ['failing', failingMs];
    const coolDownMs = this.#coolDown.waitMs(nowMs);
    if (coolDownMs > againInMs) [reason, againInMs] = ['rate-limited', coolDownMs];
    return againInMs === 0 ? probe : { usable: false, reason, againInMs };
  }

  #rejectedMs(nowMs: number, caller?: string): number {
    const { rejection } = this.credential;
    const forAllMs = rejection.isOut ? rejection.waitMs(nowMs) : 0;
    const own = this.#rejection;
    const isOut = caller === undefined ? own.outage.isOut : own.isOutFor(caller);
    return isOut ? Math.max(forAllMs, own.outage.waitMs(nowMs)) : forAllMs;
  }

  isWorthRetry(caller: string = nobody): boolean {
    return this.#failing.streak.callsOf(caller) < this.#context.settings.consecutiveFailures;
  }

  begin(call?: HealthQuery): AttemptTicket {
    const context = this.#context;
    const sentMs = context.clock.monotonicMs();
    const isTrial = this.#watch.isSuspect(sentMs) && this.#isTrialDue(sentMs);
    const caller = call?.caller ?? nobody;
    this.#underWay += 1;
    this.#lastUsedMs = sentMs;
    this.#lastBegunMs = sentMs;
    context.lastNumber += 1;
    const attempt = new Attempt(this, {
      number: context.lastNumber,
      sentMs,
      epoch: this.#watch.enter(sentMs),
      bucket: this.#share.addAttempt(caller, sentMs),
      call,
    });
    attempt.isProbe = isTrial;
    if (this.#isOutFor(caller)) this.#takeProbes(attempt);
    context.sweep(sentMs);
    return attempt;
  }

  #takeProbes(attempt: Attempt): void {
    const { probeWaitsMs } = this.#context.settings;
    const { rejection } = this.credential;
    if (this.#failing.isOutFor(attempt.caller) && this.#failing.outage.take(attempt, probeWaitsMs)) attempt.isProbe = true;
    if (this.#rejection.isOutFor(attempt.caller) && this.#rejection.outage.take(attempt, probeWaitsMs)) attempt.isProbe = true;
    if (rejection.isOut && rejection.take(attempt, probeWaitsMs)) attempt.isProbe = true;
  }

  headArrived(attempt: Attempt): void {
    attempt.headMs = this.#context.clock.monotonicMs();
    this.#watch.headArrived();
  }

  contentArrived(attempt: Attempt): void {
    attempt.streakBefore = this.#succeeded(attempt);
  }

  ended(attempt: Attempt, verdict: AttemptVerdict): void {
    const nowMs = this.#context.clock.monotonicMs();
    this.#underWay -= 1;
    this.#lastUsedMs = nowMs;
    this.#endWait(attempt, verdict);
    switch (verdict.type) {
      case 'answered':
        // A stream counts as a success at its first content. Its end may come long after later failures, and must not
        // end their outage.
        if (!attempt.hasContent) this.#succeeded(attempt);
        return undefined;
      case 'failed':
        return this.#failed(attempt, verdict.cause, nowMs);
      case 'rate-limited':
        return this.#limited(attempt, verdict.retryAfterMs, nowMs);
      case 'rejected':
        return this.#rejected(attempt, verdict.reach, nowMs);
      case 'unknown':
        this.#uncount(attempt, nowMs);
        this.#failing.outage.probeVoid(attempt);
        this.#rejection.outage.probeVoid(attempt);
        this.credential.rejection.probeVoid(attempt);
        return undefined;
    }
  }

  #endWait({ headMs, sentMs, epoch }: Attempt, { type }: AttemptVerdict): void {
    if (headMs < 0) {
      // Without a head, failures and disconnects do not end the upstream's silence.
      if (type === 'failed' || type === 'unknown') this.#watch.leave(epoch);
      else this.#watch.headArrived();
    } else if (type === 'answered' || type === 'unknown') this.#watch.learn(headMs - sentMs);
  }

  /** @returns the streak of failures that it ends, if there is one */
  #succeeded(attempt: Attempt): FailureStreak | undefined {
    const streak = this.#failing.endStreak();
    this.#rejection.endStreak();
    if (attempt.number > this.#lastAnswered) this.#lastAnswered = attempt.number;
    this.#coolDown.answered(attempt);
    if (this.#isOut()) this.#recover(attempt, this.#context.clock.monotonicMs());
    return streak;
  }

  /** Ends the outages during which the attempt was sent. */
  #recover(attempt: Attempt, nowMs: number): void {
    this.#showAlive(attempt, nowMs);
    const { logger, lastNumber } = this.#context;
    if (this.#rejection.outage.isSentDuring(attempt)) {
      this.#rejection.end(nowMs, lastNumber);
      logger.info(this.#names(), 'upstream credential accepted again for a model');
    }
    const { rejection } = this.credential;
    if (rejection.isSentDuring(attempt)) {
      rejection.end(nowMs, lastNumber);
      logger.info(this.#names(), 'upstream credential accepted again');
    }
  }

  /** An upstream that answers, even with a refusal, is not failing. */
  #showAlive(attempt: Attempt, nowMs: number): void {
    if (!this.#failing.outage.isSentDuring(attempt)) return;
    this.#failing.end(nowMs, this.#context.lastNumber);
    this.#share.clear();
    if (this.#context.avoidsFailing()) this.#context.logger.info(this.#names(), 'upstream outage ended');
  }

  #failed(attempt: Attempt, cause: FailureCause, nowMs: number): void {
    this.#postponeRejected(attempt, nowMs);
    this.#failing.outage.probeFailed(attempt, nowMs);
    // An attempt that was sent before the last recovery says nothing about the time after it.
    if (!this.#failing.outage.isNews(attempt)) return;
    const isKnown = this.#failing.isOutFor(attempt.caller);
    if (isKnown && !this.#failing.outage.isSentDuring(attempt)) return;
    if (this.#wasCounted(attempt)) return this.#uncount(attempt, nowMs);
    const scope = this.#countFailure(attempt, cause, nowMs);
    if (scope !== undefined) this.#beginOutage(scope, attempt.caller, nowMs);
  }

  /** Whether an earlier attempt of the same call failed here: the attempts of a call count once. */
  #wasCounted({ call }: Attempt): boolean {
    if (call === undefined) return false;
    if (call.countedAt.includes(this)) return true;
    call.countedAt.push(this);
    return false;
  }

  /** @returns the callers that the failures concern now */
  #countFailure(attempt: Attempt, cause: FailureCause, nowMs: number): FailureScope | undefined {
    const { caller, call, bucket, streakBefore } = attempt;
    const request = cause === 'connection' ? undefined : cause === 'reply' && call !== undefined ? call.digest() : `#${attempt.number}`;
    const byShare = this.#share.addFailure(caller, bucket, request, nowMs);
    // An attempt that was sent before a successful one failed slowly: it counts in the share, but not in the streak.
    if (attempt.number < this.#lastAnswered) return byShare;
    // An attempt that failed after its first content continues the streak that the content had ended.
    if (streakBefore !== undefined) this.#failing.resume(streakBefore);
    this.#failing.streak.add(caller, request);
    const byStreak = this.#failing.streak.judge(caller);
    return byStreak === 'all' || byShare === 'all' ? 'all' : (byStreak ?? byShare);
  }

  #beginOutage(scope: FailureScope, caller: string, nowMs: number): void {
    const { lastNumber, logger, avoidsFailing } = this.#context;
    if (!this.#failing.begin(scope, caller, nowMs, lastNumber) || !avoidsFailing()) return;
    const failuresInARow = this.#failing.streak.length;
    const againInMs = Math.round(this.#failing.outage.waitMs(nowMs));
    logger.warn({ ...this.#names(), failuresInARow, againInMs }, 'upstream outage began');
  }

  #limited(attempt: Attempt, retryAfterMs: number | undefined, nowMs: number): void {
    this.#uncount(attempt, nowMs);
    this.#coolDown.limited(attempt, retryAfterMs, nowMs, this.#context.lastNumber);
    this.#showAlive(attempt, nowMs);
    this.#postponeRejected(attempt, nowMs);
  }

  /** An attempt without success does not show that a rejected credential works: it is probed later. */
  #postponeRejected(attempt: Attempt, nowMs: number): void {
    this.#rejection.outage.probeFailed(attempt, nowMs);
    this.credential.rejection.probeFailed(attempt, nowMs);
  }

  #rejected(attempt: Attempt, reach: 'credential' | 'model', nowMs: number): void {
    this.#uncount(attempt, nowMs);
    this.#showAlive(attempt, nowMs);
    this.#postponeRejected(attempt, nowMs);
    if (reach === 'credential') return this.#refuseCredential(attempt, nowMs);
    const { logger, lastNumber } = this.#context;
    if (!this.#rejection.outage.isNews(attempt) || this.#rejection.isOutFor(attempt.caller)) return;
    const { caller, call } = attempt;
    if (attempt.number > this.#lastAnswered) this.#rejection.streak.add(caller, call?.digest() ?? `#${attempt.number}`);
    const scope = this.#rejection.streak.judge(caller);
    if (scope === undefined || !this.#rejection.begin(scope, caller, nowMs, lastNumber)) return;
    logger.error(this.#names(), 'upstream credential rejected for a model');
  }

  #refuseCredential(attempt: Attempt, nowMs: number): void {
    const { rejection } = this.credential;
    if (rejection.isOut || !rejection.isNews(attempt)) return;
    rejection.begin(nowMs, this.#context.lastNumber);
    this.#context.logger.error(this.#names(), 'upstream credential rejected');
  }

  /**
   * Removes an attempt that says nothing about failures from the window. It is no longer there if it was sent before
   * the last recovery.
   */
  #uncount(attempt: Attempt, nowMs: number): void {
    if (this.#failing.outage.isNews(attempt)) this.#share.takeBack(attempt.caller, attempt.bucket, nowMs);
  }

  #names(): { readonly upstream: string; readonly credential: string; readonly upstreamModel: string } {
    return { upstream: this.credential.upstreamId, credential: this.credential.credentialId, upstreamModel: this.upstreamModel };
  }

  /** Whether it holds no information: nothing is running, and there was no recent failure. */
  isSpare(nowMs: number): boolean {
    const isWell = !this.#isOut() && this.#failing.streak.length === 0 && this.#rejection.streak.length === 0;
    return this.#underWay === 0 && isWell && this.#coolDown.waitMs(nowMs) === 0;
  }

  /** Whether it was unused for long enough to be forgotten. */
  isForgettable(nowMs: number): boolean {
    const { forgetHealthyMs, forgetTroubledMs } = this.#context.settings;
    const idleMs = nowMs - this.#lastUsedMs;
    if (idleMs < forgetHealthyMs || this.#underWay > 0) return false;
    return idleMs >= forgetTroubledMs || this.isSpare(nowMs);
  }

  report(nowMs: number): HealthReport {
    const { upstreamId, credentialId } = this.credential;
    const common = {
      upstreamId,
      credentialId,
      upstreamModel: this.upstreamModel,
      inFlight: this.#underWay,
      consecutiveFailures: this.#failing.streak.length,
      hasAnswered: this.#lastAnswered > 0,
    };
    const coolDownMs = this.#coolDown.waitMs(nowMs);
    if (this.#rejection.outage.isOut || this.credential.rejection.isOut) {
      return { ...common, state: 'rejected', againInMs: this.#rejectedMs(nowMs) };
    }
    if (this.#failing.outage.isOut) return { ...common, state: 'failing', againInMs: this.#failing.outage.waitMs(nowMs) };
    if (coolDownMs > 0) return { ...common, state: 'rate-limited', againInMs: coolDownMs };
    return { ...common, state: this.#watch.isSuspect(nowMs) ? 'suspect' : 'healthy' };
  }
}
