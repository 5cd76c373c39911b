import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/log.ts';
import { Attempt, type AttemptListener } from './attempt.ts';
import { Cooling } from './cooling.ts';
import type { CredentialHealth } from './credential-health.ts';
import { FailureWindow } from './failure-window.ts';
import type { AttemptTicket, AttemptVerdict, Availability, HealthReport, TargetHealth, UnusableReason } from './health.ts';
import type { HealthSettings } from './health-settings.ts';
import { Outage } from './outage.ts';
import { WaitWatch } from './wait-watch.ts';

/** What the targets of a process have in common. */
export type TargetSurroundings = {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly random: () => number;
  readonly logger: Logger;
  readonly settings: HealthSettings;
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
  readonly #failing: Outage;
  /** That the upstream refuses the credential for this model. */
  readonly #rejection: Outage;
  readonly #cooling: Cooling;
  readonly #watch: WaitWatch;
  readonly #window = new FailureWindow();
  #underWay = 0;
  #failuresInARow = 0;
  #refusalsInARow = 0;
  /** The youngest attempt that was answered: what older ones say is no news of a row. */
  #lastAnswered = 0;
  #lastBegunMs: number;
  #lastUsedMs: number;

  constructor(credential: CredentialHealth, upstreamModel: string, around: TargetSurroundings) {
    const { settings, random } = around;
    this.credential = credential;
    this.upstreamModel = upstreamModel;
    this.#around = around;
    this.#failing = new Outage(settings.failing, settings.relapseMs, random);
    this.#rejection = new Outage(settings.rejected, settings.relapseMs, random);
    this.#cooling = new Cooling(settings.cooling);
    this.#watch = new WaitWatch(settings.suspicion);
    this.#lastUsedMs = around.clock.monotonicMs();
    this.#lastBegunMs = this.#lastUsedMs;
  }

  inFlight(): number {
    return this.#underWay;
  }

  availability(nowMs: number): Availability {
    if (this.#isOut()) return this.#availabilityWhileOut(nowMs);
    const coolingMs = this.#cooling.waitMs(nowMs);
    if (coolingMs > 0) return { usable: false, reason: 'rate-limited', againInMs: coolingMs };
    if (!this.#watch.isSuspect(nowMs)) return healthy;
    return this.#isTrialDue(nowMs) ? probe : suspect;
  }

  #isOut(): boolean {
    return this.#failing.isOut || this.#rejection.isOut || this.credential.rejection.isOut;
  }

  #isTrialDue(nowMs: number): boolean {
    return nowMs - this.#lastBegunMs >= this.#around.settings.suspicion.trialMs;
  }

  #availabilityWhileOut(nowMs: number): Availability {
    let reason: UnusableReason = 'rejected';
    let againInMs = this.#rejectedMs(nowMs);
    const failingMs = this.#failing.isOut ? this.#failing.waitMs(nowMs) : 0;
    if (failingMs > againInMs) [reason, againInMs] = ['failing', failingMs];
    const coolingMs = this.#cooling.waitMs(nowMs);
    if (coolingMs > againInMs) [reason, againInMs] = ['rate-limited', coolingMs];
    return againInMs === 0 ? probe : { usable: false, reason, againInMs };
  }

  #rejectedMs(nowMs: number): number {
    const { rejection } = this.credential;
    const forAllMs = rejection.isOut ? rejection.waitMs(nowMs) : 0;
    return this.#rejection.isOut ? Math.max(forAllMs, this.#rejection.waitMs(nowMs)) : forAllMs;
  }

  admitsLastResort(nowMs: number): boolean {
    if (!this.#isOut()) return true;
    const { lastResortFailingMs, lastResortRejectedMs, lastResortWaitsMs } = this.#around.settings;
    const mayTry = (outage: Outage, spacingMs: number): boolean =>
      !outage.isOut || outage.mayTryAnyway(nowMs, spacingMs, lastResortWaitsMs);
    const { rejection } = this.credential;
    const admits =
      (this.#failsOnlyPartly() || mayTry(this.#failing, lastResortFailingMs)) &&
      mayTry(this.#rejection, lastResortRejectedMs) &&
      mayTry(rejection, lastResortRejectedMs);
    if (!admits) return false;
    this.#failing.claimTurn(nowMs);
    this.#rejection.claimTurn(nowMs);
    rejection.claimTurn(nowMs);
    return true;
  }

  /** Out for the share of its failures and not for a row of them: others are better, but where there is none, much of what it is asked succeeds. */
  #failsOnlyPartly(): boolean {
    return this.#failuresInARow < this.#around.settings.consecutiveFailures;
  }

  begin(): AttemptTicket {
    const around = this.#around;
    const sentMs = around.clock.monotonicMs();
    const isTrial = this.#watch.isSuspect(sentMs) && this.#isTrialDue(sentMs);
    this.#underWay += 1;
    this.#lastUsedMs = sentMs;
    this.#lastBegunMs = sentMs;
    around.lastNumber += 1;
    const attempt = new Attempt(this, {
      number: around.lastNumber,
      sentMs,
      epoch: this.#watch.enter(sentMs),
      bucket: this.#window.addAttempt(sentMs),
    });
    attempt.isProbe = isTrial;
    if (this.#isOut()) this.#takeProbes(attempt);
    around.sweep(sentMs);
    return attempt;
  }

  #takeProbes(attempt: Attempt): void {
    const { lastResortWaitsMs } = this.#around.settings;
    for (const outage of [this.#failing, this.#rejection, this.credential.rejection]) {
      if (outage.isOut && outage.take(attempt, lastResortWaitsMs)) attempt.isProbe = true;
    }
  }

  headArrived(attempt: Attempt): void {
    attempt.headMs = this.#around.clock.monotonicMs();
    this.#watch.headArrived();
  }

  contentArrived(attempt: Attempt): void {
    attempt.rowBefore = this.#failuresInARow;
    this.#hearGood(attempt);
  }

  ended(attempt: Attempt, verdict: AttemptVerdict): void {
    const nowMs = this.#around.clock.monotonicMs();
    this.#underWay -= 1;
    this.#lastUsedMs = nowMs;
    this.#endWait(attempt, verdict);
    switch (verdict.type) {
      case 'answered':
        // A stream that comes to its end was good news when it began: it may have begun long before the failures that it would deny.
        if (attempt.rowBefore < 0) this.#hearGood(attempt);
        return undefined;
      case 'failed':
        return this.#failed(attempt, nowMs);
      case 'rate-limited':
        return this.#limited(attempt, verdict.retryAfterMs, nowMs);
      case 'rejected':
        return this.#rejected(attempt, verdict.reach, nowMs);
      case 'unknown':
        this.#uncount(attempt, nowMs);
        this.#failing.probeVoid(attempt);
        this.#rejection.probeVoid(attempt);
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

  #hearGood(attempt: Attempt): void {
    this.#failuresInARow = 0;
    this.#refusalsInARow = 0;
    if (attempt.number > this.#lastAnswered) this.#lastAnswered = attempt.number;
    this.#cooling.answered(attempt);
    if (this.#isOut()) this.#recover(attempt, this.#around.clock.monotonicMs());
  }

  /** Ends what an attempt disproves that was sent since it began. */
  #recover(attempt: Attempt, nowMs: number): void {
    this.#showAlive(attempt, nowMs);
    if (this.#rejection.isSentDuring(attempt)) {
      this.#rejection.end(nowMs, this.#around.lastNumber);
      this.#refusalsInARow = 0;
      this.#around.logger.info(this.#names(), 'the upstream accepts the credential for the model again');
    }
    const { rejection } = this.credential;
    if (rejection.isSentDuring(attempt)) {
      rejection.end(nowMs, this.#around.lastNumber);
      this.#around.logger.info(this.#names(), 'the upstream accepts the credential again');
    }
  }

  /** An upstream that answers, be it with a refusal, does not fail any more. */
  #showAlive(attempt: Attempt, nowMs: number): void {
    if (!this.#failing.isSentDuring(attempt)) return;
    this.#failing.end(nowMs, this.#around.lastNumber);
    this.#failuresInARow = 0;
    this.#window.clear();
    this.#around.logger.info(this.#names(), 'the upstream answers again and is used');
  }

  #failed(attempt: Attempt, nowMs: number): void {
    this.#postponeRejected(attempt, nowMs);
    if (this.#failing.isSentDuring(attempt)) this.#failuresInARow += 1;
    if (this.#failing.isOut) return this.#failing.probeFailed(attempt, nowMs);
    // What was sent before the last recovery tells of the time before it.
    if (!this.#failing.isNews(attempt)) return;
    const { consecutiveFailures, failureShare, attemptsMin } = this.#around.settings;
    this.#window.addFailure(nowMs);
    // An attempt that was sent before one that succeeded failed slowly: it counts as one of many, and is no news of a row.
    // One that broke off after its first content goes on with the row that the content had ended.
    if (attempt.number >= this.#lastAnswered) this.#failuresInARow = Math.max(this.#failuresInARow, attempt.rowBefore) + 1;
    const isOut = this.#failuresInARow >= consecutiveFailures || this.#window.exceeds(failureShare, attemptsMin, nowMs);
    if (!isOut) return;
    this.#failing.begin(nowMs, this.#around.lastNumber);
    const failuresInARow = this.#failuresInARow;
    const againInMs = Math.round(this.#failing.waitMs(nowMs));
    this.#around.logger.warn({ ...this.#names(), failuresInARow, againInMs }, 'the upstream fails and is left alone for a time');
  }

  #limited(attempt: Attempt, retryAfterMs: number | undefined, nowMs: number): void {
    this.#uncount(attempt, nowMs);
    this.#cooling.limited(attempt, retryAfterMs, nowMs, this.#around.lastNumber);
    this.#showAlive(attempt, nowMs);
    this.#postponeRejected(attempt, nowMs);
  }

  /** What was no success is none for a credential that was refused: it is tried again later. */
  #postponeRejected(attempt: Attempt, nowMs: number): void {
    this.#rejection.probeFailed(attempt, nowMs);
    this.credential.rejection.probeFailed(attempt, nowMs);
  }

  #rejected(attempt: Attempt, reach: 'credential' | 'model', nowMs: number): void {
    this.#uncount(attempt, nowMs);
    this.#showAlive(attempt, nowMs);
    this.#postponeRejected(attempt, nowMs);
    const { settings, logger, lastNumber } = this.#around;
    const outage = reach === 'credential' ? this.credential.rejection : this.#rejection;
    if (outage.isOut || !outage.isNews(attempt)) return;
    if (reach === 'credential') {
      outage.begin(nowMs, lastNumber);
      logger.error(this.#names(), 'the upstream refuses the credential: it has to be renewed');
      return;
    }
    if (attempt.number > this.#lastAnswered) this.#refusalsInARow += 1;
    if (this.#refusalsInARow < settings.modelRefusals) return;
    outage.begin(nowMs, lastNumber);
    logger.error(this.#names(), 'the upstream refuses the credential for the model');
  }

  /** Takes an attempt out of the window that says nothing of failing or not; it is gone from there if it was sent before the last recovery. */
  #uncount(attempt: Attempt, nowMs: number): void {
    if (this.#failing.isNews(attempt)) this.#window.takeBack(attempt.bucket, nowMs);
  }

  #names(): { readonly upstream: string; readonly credential: string; readonly upstreamModel: string } {
    return { upstream: this.credential.upstreamId, credential: this.credential.credentialId, upstreamModel: this.upstreamModel };
  }

  /** Whether nothing would be lost with it: nothing is under way and nothing was wrong lately. */
  isSpare(nowMs: number): boolean {
    const isWell = !this.#isOut() && this.#failuresInARow === 0 && this.#refusalsInARow === 0;
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
      consecutiveFailures: this.#failuresInARow,
    };
    const coolingMs = this.#cooling.waitMs(nowMs);
    if (this.#rejection.isOut || this.credential.rejection.isOut) {
      return { ...common, state: 'rejected', againInMs: this.#rejectedMs(nowMs) };
    }
    if (this.#failing.isOut) return { ...common, state: 'failing', againInMs: this.#failing.waitMs(nowMs) };
    if (coolingMs > 0) return { ...common, state: 'rate-limited', againInMs: coolingMs };
    return { ...common, state: this.#watch.isSuspect(nowMs) ? 'suspect' : 'healthy' };
  }
}
