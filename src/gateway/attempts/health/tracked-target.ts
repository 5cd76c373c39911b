import type { Clock } from '../../../platform/clock.ts';
import type { Logger } from '../../../platform/log.ts';
import type {
  AskingCall,
  AttemptTicket,
  AttemptVerdict,
  Availability,
  FailureCause,
  HealthReport,
  TargetHealth,
  UnusableReason,
} from './health.ts';
import { Attempt, type AttemptListener, nobody } from './attempt.ts';
import { BlamedOutage, Cooling, type CredentialHealth } from './outage.ts';
import type { CallerRow, Concerned } from './failure-signs.ts';
import { FailureShare, WaitWatch } from './failure-signs.ts';
import type { HealthSettings } from './health-settings.ts';

/** What the targets of a process have in common. */
export type TargetSurroundings = {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly random: () => number;
  readonly logger: Logger;
  readonly settings: HealthSettings;
  /** Whether calls keep to what is known here; otherwise nothing is said of targets that others are preferred to. */
  readonly isHeeded: () => boolean;
  /** Number of the last attempt of the process. */
  lastNumber: number;
  /** Called with every attempt, so that memory follows use without a timer. */
  readonly sweep: (nowMs: number) => void;
};

// Made once: nearly every call gets one of them.
const healthy: Availability = { usable: true, state: 'healthy' };
const suspect: Availability = { usable: true, state: 'suspect' };
const probe: Availability = { usable: true, state: 'probe' };

/** The health of one model at an upstream with one credential: what its attempts said, and what follows from that. */
export class TrackedTarget implements TargetHealth, AttemptListener {
  readonly credential: CredentialHealth;
  readonly upstreamModel: string;
  readonly #around: TargetSurroundings;
  readonly #failing: BlamedOutage;
  /** That the upstream refuses the credential for this model. */
  readonly #rejection: BlamedOutage;
  readonly #share: FailureShare;
  readonly #cooling: Cooling;
  readonly #watch: WaitWatch;
  #underWay = 0;
  /** The youngest attempt that was answered: what older ones say is no news of a row. */
  #lastAnswered = 0;
  #lastBegunMs: number;
  #lastUsedMs: number;

  constructor(credential: CredentialHealth, upstreamModel: string, around: TargetSurroundings) {
    const { settings, random } = around;
    const { relapseMs, consecutiveFailures, failuresPerCaller, modelRefusals, refusalsPerCaller } = settings;
    const pace = { relapseMs, random };
    this.credential = credential;
    this.upstreamModel = upstreamModel;
    this.#around = around;
    this.#failing = new BlamedOutage(settings.failing, { length: consecutiveFailures, perCallerMost: failuresPerCaller }, pace);
    this.#rejection = new BlamedOutage(settings.rejected, { length: modelRefusals, perCallerMost: refusalsPerCaller }, pace);
    const { failureShare: share, attemptsMin, othersMin } = settings;
    this.#share = new FailureShare({ share, attemptsMin, othersMin });
    this.#cooling = new Cooling(settings.cooling);
    this.#watch = new WaitWatch(settings.suspicion);
    this.#lastUsedMs = around.clock.monotonicMs();
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
    const coolingMs = this.#cooling.waitMs(nowMs);
    if (coolingMs > 0) return { usable: false, reason: 'rate-limited', againInMs: coolingMs };
    if (!this.#watch.isSuspect(nowMs)) return healthy;
    return this.#isTrialDue(nowMs) ? probe : suspect;
  }

  #isOutFor(caller: string): boolean {
    return this.credential.rejection.isOut || this.#failing.isOutFor(caller) || this.#rejection.isOutFor(caller);
  }

  /** Whether it is out for anybody. */
  #isOut(): boolean {
    return this.#failing.outage.isOut || this.#rejection.outage.isOut || this.credential.rejection.isOut;
  }

  #isTrialDue(nowMs: number): boolean {
    return nowMs - this.#lastBegunMs >= this.#around.settings.suspicion.trialMs;
  }

  #availabilityWhileOut(nowMs: number, caller: string): Availability {
    let reason: UnusableReason = 'rejected';
    let againInMs = this.#rejectedMs(nowMs, caller);
    const failingMs = this.#failing.isOutFor(caller) ? this.#failing.outage.waitMs(nowMs) : 0;
    if (failingMs > againInMs) [reason, againInMs] = ['failing', failingMs];
    const coolingMs = this.#cooling.waitMs(nowMs);
    if (coolingMs > againInMs) [reason, againInMs] = ['rate-limited', coolingMs];
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
    return this.#failing.row.callsOf(caller) < this.#around.settings.consecutiveFailures;
  }

  begin(call?: AskingCall): AttemptTicket {
    const around = this.#around;
    const sentMs = around.clock.monotonicMs();
    const isTrial = this.#watch.isSuspect(sentMs) && this.#isTrialDue(sentMs);
    const caller = call?.caller ?? nobody;
    this.#underWay += 1;
    this.#lastUsedMs = sentMs;
    this.#lastBegunMs = sentMs;
    around.lastNumber += 1;
    const attempt = new Attempt(this, {
      number: around.lastNumber,
      sentMs,
      epoch: this.#watch.enter(sentMs),
      bucket: this.#share.addAttempt(caller, sentMs),
      call,
    });
    attempt.isProbe = isTrial;
    if (this.#isOutFor(caller)) this.#takeProbes(attempt);
    around.sweep(sentMs);
    return attempt;
  }

  #takeProbes(attempt: Attempt): void {
    const { probeWaitsMs } = this.#around.settings;
    const { rejection } = this.credential;
    if (this.#failing.isOutFor(attempt.caller) && this.#failing.outage.take(attempt, probeWaitsMs)) attempt.isProbe = true;
    if (this.#rejection.isOutFor(attempt.caller) && this.#rejection.outage.take(attempt, probeWaitsMs)) attempt.isProbe = true;
    if (rejection.isOut && rejection.take(attempt, probeWaitsMs)) attempt.isProbe = true;
  }

  headArrived(attempt: Attempt): void {
    attempt.headMs = this.#around.clock.monotonicMs();
    this.#watch.headArrived();
  }

  contentArrived(attempt: Attempt): void {
    attempt.rowBefore = this.#hearGood(attempt);
  }

  ended(attempt: Attempt, verdict: AttemptVerdict): void {
    const nowMs = this.#around.clock.monotonicMs();
    this.#underWay -= 1;
    this.#lastUsedMs = nowMs;
    this.#endWait(attempt, verdict);
    switch (verdict.type) {
      case 'answered':
        // A stream that comes to its end was good news when it began: it may have begun long before the failures that it would deny.
        if (!attempt.hasContent) this.#hearGood(attempt);
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
      // Without a head, only failures and those who left have nothing to say of the upstream's silence.
      if (type === 'failed' || type === 'unknown') this.#watch.leave(epoch);
      else this.#watch.headArrived();
    } else if (type === 'answered' || type === 'unknown') this.#watch.learn(headMs - sentMs);
  }

  /** @returns the row of failures that it ends, where there is one */
  #hearGood(attempt: Attempt): CallerRow | undefined {
    const row = this.#failing.breakRow();
    this.#rejection.breakRow();
    if (attempt.number > this.#lastAnswered) this.#lastAnswered = attempt.number;
    this.#cooling.answered(attempt);
    if (this.#isOut()) this.#recover(attempt, this.#around.clock.monotonicMs());
    return row;
  }

  /** Ends what an attempt disproves that was sent since it began. */
  #recover(attempt: Attempt, nowMs: number): void {
    this.#showAlive(attempt, nowMs);
    const { logger, lastNumber } = this.#around;
    if (this.#rejection.outage.isSentDuring(attempt)) {
      this.#rejection.end(nowMs, lastNumber);
      logger.info(this.#names(), 'the upstream accepts the credential for the model again');
    }
    const { rejection } = this.credential;
    if (rejection.isSentDuring(attempt)) {
      rejection.end(nowMs, lastNumber);
      logger.info(this.#names(), 'the upstream accepts the credential again');
    }
  }

  /** An upstream that answers, be it with a refusal, does not fail any more. */
  #showAlive(attempt: Attempt, nowMs: number): void {
    if (!this.#failing.outage.isSentDuring(attempt)) return;
    this.#failing.end(nowMs, this.#around.lastNumber);
    this.#share.clear();
    if (this.#around.isHeeded()) this.#around.logger.info(this.#names(), 'the upstream answers again and is used');
  }

  #failed(attempt: Attempt, cause: FailureCause, nowMs: number): void {
    this.#postponeRejected(attempt, nowMs);
    this.#failing.outage.probeFailed(attempt, nowMs);
    // What was sent before the last recovery tells of the time before it.
    if (!this.#failing.outage.isNews(attempt)) return;
    const isKnown = this.#failing.isOutFor(attempt.caller);
    if (isKnown && !this.#failing.outage.isSentDuring(attempt)) return;
    if (this.#wasCounted(attempt)) return this.#uncount(attempt, nowMs);
    const concerned = this.#countFailure(attempt, cause, nowMs);
    if (concerned !== undefined) this.#leaveAlone(concerned, attempt.caller, nowMs);
  }

  /** Whether an earlier attempt of the same call failed here: the attempts of a call count once. */
  #wasCounted({ call }: Attempt): boolean {
    if (call === undefined) return false;
    if (call.countedAt.includes(this)) return true;
    call.countedAt.push(this);
    return false;
  }

  /** @returns whom the failures concern by now */
  #countFailure(attempt: Attempt, cause: FailureCause, nowMs: number): Concerned | undefined {
    const { caller, call, bucket, rowBefore } = attempt;
    const request = cause === 'connection' ? undefined : cause === 'reply' && call !== undefined ? call.digest() : `#${attempt.number}`;
    const byShare = this.#share.addFailure(caller, bucket, request, nowMs);
    // An attempt that was sent before one that succeeded failed slowly: it counts as one of many, and is no news of a row.
    if (attempt.number < this.#lastAnswered) return byShare;
    // One that broke off after its first content goes on with the row that the content had ended.
    if (rowBefore !== undefined) this.#failing.resume(rowBefore);
    this.#failing.row.add(caller, request);
    const byRow = this.#failing.row.judge(caller);
    return byRow === 'all' || byShare === 'all' ? 'all' : (byRow ?? byShare);
  }

  #leaveAlone(concerned: Concerned, caller: string, nowMs: number): void {
    const { lastNumber, logger, isHeeded } = this.#around;
    if (!this.#failing.begin(concerned, caller, nowMs, lastNumber) || !isHeeded()) return;
    const failuresInARow = this.#failing.row.length;
    const againInMs = Math.round(this.#failing.outage.waitMs(nowMs));
    logger.warn({ ...this.#names(), failuresInARow, againInMs }, 'the upstream fails; others are preferred for a time where there are any');
  }

  #limited(attempt: Attempt, retryAfterMs: number | undefined, nowMs: number): void {
    this.#uncount(attempt, nowMs);
    this.#cooling.limited(attempt, retryAfterMs, nowMs, this.#around.lastNumber);
    this.#showAlive(attempt, nowMs);
    this.#postponeRejected(attempt, nowMs);
  }

  /** What was no success is none for a credential that was refused: it is tried again later. */
  #postponeRejected(attempt: Attempt, nowMs: number): void {
    this.#rejection.outage.probeFailed(attempt, nowMs);
    this.credential.rejection.probeFailed(attempt, nowMs);
  }

  #rejected(attempt: Attempt, reach: 'credential' | 'model', nowMs: number): void {
    this.#uncount(attempt, nowMs);
    this.#showAlive(attempt, nowMs);
    this.#postponeRejected(attempt, nowMs);
    if (reach === 'credential') return this.#refuseCredential(attempt, nowMs);
    const { logger, lastNumber } = this.#around;
    if (!this.#rejection.outage.isNews(attempt) || this.#rejection.isOutFor(attempt.caller)) return;
    const { caller, call } = attempt;
    if (attempt.number > this.#lastAnswered) this.#rejection.row.add(caller, call?.digest() ?? `#${attempt.number}`);
    const concerned = this.#rejection.row.judge(caller);
    if (concerned === undefined || !this.#rejection.begin(concerned, caller, nowMs, lastNumber)) return;
    logger.error(this.#names(), 'the upstream refuses the credential for the model');
  }

  #refuseCredential(attempt: Attempt, nowMs: number): void {
    const { rejection } = this.credential;
    if (rejection.isOut || !rejection.isNews(attempt)) return;
    rejection.begin(nowMs, this.#around.lastNumber);
    this.#around.logger.error(this.#names(), 'the upstream refuses the credential: it has to be renewed');
  }

  /** Takes an attempt out of the window that says nothing of failing or not; it is gone from there if it was sent before the last recovery. */
  #uncount(attempt: Attempt, nowMs: number): void {
    if (this.#failing.outage.isNews(attempt)) this.#share.takeBack(attempt.caller, attempt.bucket, nowMs);
  }

  #names(): { readonly upstream: string; readonly credential: string; readonly upstreamModel: string } {
    return { upstream: this.credential.upstreamId, credential: this.credential.credentialId, upstreamModel: this.upstreamModel };
  }

  /** Whether nothing would be lost with it: nothing is under way and nothing was wrong lately. */
  isSpare(nowMs: number): boolean {
    const isWell = !this.#isOut() && this.#failing.row.length === 0 && this.#rejection.row.length === 0;
    return this.#underWay === 0 && isWell && this.#cooling.waitMs(nowMs) === 0;
  }

  /** Whether nobody has used it for so long that it may be forgotten. */
  isForgettable(nowMs: number): boolean {
    const { forgetHealthyMs, forgetTroubledMs } = this.#around.settings;
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
      consecutiveFailures: this.#failing.row.length,
    };
    const coolingMs = this.#cooling.waitMs(nowMs);
    if (this.#rejection.outage.isOut || this.credential.rejection.isOut) {
      return { ...common, state: 'rejected', againInMs: this.#rejectedMs(nowMs) };
    }
    if (this.#failing.outage.isOut) return { ...common, state: 'failing', againInMs: this.#failing.outage.waitMs(nowMs) };
    if (coolingMs > 0) return { ...common, state: 'rate-limited', againInMs: coolingMs };
    return { ...common, state: this.#watch.isSuspect(nowMs) ? 'suspect' : 'healthy' };
  }
}
