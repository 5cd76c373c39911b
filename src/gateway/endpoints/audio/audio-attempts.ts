import { isUpstreamLimit } from '../../attempts/exchange/own-limits.ts';
import { passReplyHeaders } from '../../attempts/exchange/pass-headers.ts';
import { readUpstreamRequestId } from '../../attempts/exchange/pass-headers.ts';
import { setTimeout as wait } from 'node:timers/promises';

import type { ApiKey } from '../../../accounts/api-key.ts';
import type { CallEntry, CallOpening, FailedAttempt } from '../../../billing/ledger/call-entry.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import type { Usage } from '../../../inference/usage.ts';
import type { ReplyHeaders } from '../../../platform/http/reply-head.ts';
import { openCall } from '../../attempts/books/open-call.ts';
import type { CallCredit } from '../../admission/credits/call-credit.ts';
import type { ClientWatch } from '../../attempts/disconnect/client-watch.ts';
import { describeLeaving } from '../../attempts/disconnect/describe-leaving.ts';
import type { ClientReply } from '../../replies/client-reply.ts';
import { receiptHeader, receiptPath } from '../../replies/reply-headers.ts';
import type { GatewaySettings } from '../../attempts/services.ts';
import type { AudioServices } from './audio-services.ts';
import { type AskingCall, createAskingCall } from '../../attempts/health/asking-call.ts';
import type { AttemptTicket, AttemptVerdict } from '../../attempts/health/health.ts';
import { AttemptKeys } from '../../attempts/retry/attempt-keys.ts';
import { type AttemptFailure, chooseNext, judgeFailure, takeBudget } from '../../attempts/retry/next-attempt.ts';
import { readPrices } from '../../attempts/books/read-prices.ts';
import type { RetryGrant } from '../../attempts/retry/retry-budget.ts';
import { seeHealth } from '../../attempts/retry/see-health.ts';
import { subjectOf } from '../../attempts/routing/route.ts';
import type { Target } from '../../attempts/routing/target.ts';
import { timeoutsOf } from '../../attempts/routing/target-timeouts.ts';
import type { CallReport } from '../../telemetry/call-report.ts';
import type { AudioJob, Delivered, Delivery, PreparedAudio } from './audio-job.ts';
import { describeRefusal } from './describe-refusal.ts';
import { type AudioOutcome, endLeftAudio, nothingUsed, settleAudio } from './settle-audio.ts';
import { UpstreamReply } from './upstream-reply.ts';

/** A call that is about to be made. */
export type AudioCall = {
  readonly callId: string;
  readonly caller: ApiKey;
  readonly job: AudioJob;
  readonly response: ClientReply;
  readonly settings: GatewaySettings;
  /** Headers that tell the caller what is left of its limits; empty where it has none. */
  readonly limitHeaders: Readonly<Record<string, string>>;
  readonly acceptedAtMs: number;
  readonly startedMs: number;
  /** What is held for it; absent where nothing limits what its caller spends. */
  readonly credit: CallCredit | undefined;
  /** Aborts with a GatewayError: the client has left and its upstream is to be stopped, or the gateway ends. */
  readonly signal: AbortSignal;
  readonly client: ClientWatch;
  readonly report: CallReport;
};

/** A target, and the call as it is fitted to it. */
type Candidate = { readonly target: Target; readonly prepared: PreparedAudio };

/** Another attempt that is to follow. */
type Next = { readonly candidate: Candidate; readonly grant: RetryGrant };

/** What an attempt has learnt. */
type Attempt = {
  readonly candidate: Candidate;
  readonly ticket: AttemptTicket;
  readonly startedMs: number;
  head: { readonly status: number; readonly headers: ReplyHeaders } | undefined;
  /** Its upstream has said that it does what it was asked. */
  isAnswered: boolean;
  isDelivering: boolean;
  firstByteMs: number | undefined;
  /** It is in the books, and must not come there again. */
  isSettled: boolean;
};

/**
 * The attempts of one call, at one target after the other, until one has something to deliver. What is sent can be sent again as long as the client has seen
 * nothing, because it waits in the spool. The call is in the books once, for the attempt that delivered.
 */
export class AudioAttempts {
  readonly #gateway: AudioServices;
  readonly #call: AudioCall;
  readonly #failed: FailedAttempt[] = [];
  readonly #tried: Target[] = [];
  /** Lets health count the attempts of one call once. */
  readonly #asking: AskingCall;
  readonly #keys: AttemptKeys;

  constructor(gateway: AudioServices, call: AudioCall) {
    this.#gateway = gateway;
    this.#call = call;
    this.#keys = new AttemptKeys(call.callId);
    this.#asking = createAskingCall(call.caller.userId, call.job.digest);
  }

  /**
   * Makes the call. Resolves with what it used, when its client has been answered or has left.
   * @throws GatewayError where nothing was delivered; it is in the books then, unless no target could take it
   */
  async run(targets: readonly Target[]): Promise<Usage> {
    const candidates = this.#prepareAll(targets);
    let [candidate] = candidates;
    let grant: RetryGrant | undefined;
    while (candidate !== undefined) {
      try {
        const attempt: { readonly usage: Usage } | Next = await this.#attempt(candidate, candidates);
        if ('usage' in attempt) return attempt.usage;
        grant?.release();
        ({ candidate, grant } = attempt);
      } catch (error) {
        grant?.release();
        throw error;
      }
    }
    throw new Error('a call ran out of targets without an answer');
  }

  /** The targets that can do what is asked. @throws GatewayError of the first, where none can */
  #prepareAll(targets: readonly Target[]): readonly Candidate[] {
    let refusal: GatewayError | undefined;
    const candidates = targets.flatMap((target) => {
      try {
        return [{ target, prepared: this.#call.job.prepare(target) }];
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error;
        refusal ??= error;
        return [];
      }
    });
    if (candidates.length === 0) throw refusal ?? new Error('a call was routed to no target');
    return candidates;
  }

  async #attempt(candidate: Candidate, candidates: readonly Candidate[]): Promise<{ readonly usage: Usage } | Next> {
    this.#tried.push(candidate.target);
    const { clock, health, retryBudget } = this.#gateway;
    const { response, settings } = this.#call;
    const { target, prepared } = candidate;
    const opening = await this.#open(target, prepared);
    const ticket = health.of(subjectOf(target)).begin(this.#asking);
    const attempt: Attempt = {
      candidate,
      ticket,
      startedMs: clock.monotonicMs(),
      head: undefined,
      isAnswered: false,
      isDelivering: false,
      firstByteMs: undefined,
      isSettled: false,
    };
    const timeouts = timeoutsOf(target, this.#call.job.facts.stream, this.#call.settings.timeouts);
    const reply = new UpstreamReply(target, timeouts, this.#call.signal);
    try {
      const delivered = await this.#exchange(reply, opening, attempt);
      ticket.end(this.#judge(delivered, attempt));
      if (delivered.end === 'finished') retryBudget.succeeded(target.upstream.id);
      const { report, textCharacters } = delivered;
      const metered = await prepared.meter(report, textCharacters);
      const { usage } = await this.#settle(opening, attempt, { end: delivered.end, metered, error: delivered.error, report });
      // What is left is in the connection's buffers: whoever does not read it is not waited for.
      if (!response.destroyed) {
        response.setTimeout(settings.timeouts.stalledReaderMs, () => response.destroy());
        delivered.conclude();
      }
      return { usage };
    } catch (error) {
      if (attempt.isSettled) throw error;
      if (!(error instanceof GatewayError)) {
        ticket.end({ type: 'unknown' });
        await this.#settle(opening, attempt, { end: 'failed', metered: nothingUsed });
        throw error;
      }
      const next = await this.#decideNext(attempt, candidates, error);
      if (next !== undefined) return next;
      await this.#settleFailed(opening, attempt, error);
      throw error;
    } finally {
      reply.close();
    }
  }

  #open(target: Target, prepared: PreparedAudio): Promise<CallOpening> {
    const { callId, acceptedAtMs, caller, job, settings, report, credit } = this.#call;
    const { journal } = this.#gateway;
    const { priceBook } = settings.routing;
    // Neither a form nor the text that is read out holds anything that a price depends on.
    readPrices(priceBook, { target, requestedModel: job.facts.requestedModel, acceptedAtMs, uses: prepared.bounds().most }, undefined);
    const priceVersion = priceBook.version;
    const failedAttempts = this.#failed.length === 0 ? undefined : [...this.#failed];
    report.exchanging();
    return openCall({
      callId,
      acceptedAtMs,
      caller,
      dialect: 'openai-audio',
      facts: job.facts,
      target,
      priceVersion,
      journal,
      failedAttempts,
      credit,
    });
  }

  async #exchange(reply: UpstreamReply, opening: CallOpening, attempt: Attempt): Promise<Delivered> {
    const { journal, clock } = this.#gateway;
    const { target, prepared } = attempt.candidate;
    const { response, signal, settings, client } = this.#call;
    const recordProgress = (): void => journal.progress(opening.callId, { usage: prepared.usageAtHead(), outputCharacters: 0 });
    void prepared.learnMore?.().then(() => {
      if (attempt.isAnswered && !attempt.isSettled) recordProgress();
    });
    this.#call.client.asks();
    const head = await reply.open(this.#keys.sign(target, prepared.request));
    attempt.head = head;
    const upstreamRequestId = readUpstreamRequestId(head.headers, target.upstream);
    journal.head(opening.callId, { status: head.status, ...(upstreamRequestId === undefined ? {} : { upstreamRequestId }) });
    attempt.ticket.headArrived();
    if (head.status < 200 || head.status > 299) throw await this.#readRefusal(reply, head, target);
    attempt.isAnswered = true;
    recordProgress();
    const delivery: Delivery = {
      response,
      received: head.headers,
      headers: this.#replyHeaders(head.headers, target),
      limits: settings.limits,
      stalledReaderMs: settings.timeouts.stalledReaderMs,
      signal,
      onDelivering: () => {
        attempt.isDelivering = true;
        attempt.firstByteMs = Math.round(clock.monotonicMs() - this.#call.startedMs);
        attempt.ticket.contentArrived();
      },
      client,
    };
    return prepared.deliver(reply, delivery);
  }

  async #readRefusal(reply: UpstreamReply, { status, headers }: NonNullable<Attempt['head']>, target: Target): Promise<GatewayError> {
    const { errorBytesMax } = this.#call.settings.limits;
    const tooLarge = new GatewayError('upstream_error', `the model service answered ${status} with too many words`, {
      status: Math.max(status, 400),
    });
    const body = await reply.readAll(errorBytesMax, tooLarge);
    return describeRefusal({ status, headers, body }, target, this.#gateway.clock.nowMs());
  }

  /** What may pass of the upstream's headers. What is left of the operator's account is no business of a caller who has limits of its own. */
  #replyHeaders(received: ReplyHeaders, { upstream }: Target): Record<string, string> {
    const { callId, limitHeaders } = this.#call;
    const passed = Object.entries(passReplyHeaders(upstream, received, callId));
    const isLimited = Object.keys(limitHeaders).length > 0;
    const kept = passed.filter(([name]) => name !== 'content-type' && !(isLimited && isUpstreamLimit(name)));
    return { ...Object.fromEntries(kept), ...limitHeaders, [receiptHeader]: receiptPath(callId) };
  }

  /** Where the call goes after a failure of which its client has seen nothing; undefined where that is its end. */
  async #decideNext(attempt: Attempt, candidates: readonly Candidate[], error: GatewayError): Promise<Next | undefined> {
    const { signal, settings } = this.#call;
    const decision = judgeFailure(this.#gateway, this.#describeFailure(attempt, error));
    attempt.ticket.end(decision.verdict);
    if (!decision.retry || attempt.isDelivering || this.#failed.length + 1 >= settings.retries.attemptsMax) return undefined;
    const failed = { failed: attempt.candidate.target, decision };
    const untried = candidates.map(({ target }) => target).filter((target) => !this.#tried.includes(target));
    const next = chooseNext(untried, failed, seeHealth(this.#gateway, settings, this.#asking));
    const candidate = candidates.find(({ target }) => target === next?.target);
    const grant = next === undefined ? undefined : takeBudget(this.#gateway, failed, next);
    if (next === undefined || candidate === undefined || grant === undefined) return undefined;
    if (next.waitMs > 0) await wait(next.waitMs, undefined, { signal }).catch(() => {});
    if (this.#hasLeft()) {
      grant.release();
      return undefined;
    }
    this.#failed.push(this.#describeAttempt(attempt, error, this.#gateway.clock.monotonicMs()));
    if (attempt.head !== undefined || candidate !== attempt.candidate) this.#keys.renew();
    return { candidate, grant };
  }

  /** Whether it is to be tried no more. */
  #hasLeft(): boolean {
    return this.#call.signal.aborted || this.#call.client.left !== undefined;
  }

  /** What a reply says of its target's health, of which something was delivered. */
  #judge({ end, error }: Delivered, attempt: Attempt): AttemptVerdict {
    if (end !== 'cut') return { type: end === 'finished' ? 'answered' : 'unknown' };
    if (error === undefined) return { type: 'failed', cause: 'reply' };
    return judgeFailure(this.#gateway, { ...this.#describeFailure(attempt, error), isDelivered: true }).verdict;
  }

  #describeFailure({ head }: Attempt, error: GatewayError): AttemptFailure {
    const known = { error, attempt: this.#failed.length + 1, isDelivered: false, hasClientLeft: this.#hasLeft() };
    return { ...known, upstreamStatus: head?.status, headers: head?.headers };
  }

  #describeAttempt({ candidate, head, startedMs }: Attempt, error: GatewayError, nowMs: number): FailedAttempt {
    const { upstream, upstreamModel } = candidate.target;
    return {
      upstream: upstream.id,
      credential: upstream.credentialId,
      upstreamModel,
      ...(head === undefined ? {} : { upstreamStatus: head.status }),
      errorCode: error.code,
      durationMs: Math.round(nowMs - startedMs),
    };
  }

  /** A failed call is free. One whose client left after the upstream had answered is not: the upstream has done the work. */
  async #settleFailed(opening: CallOpening, attempt: Attempt, error: GatewayError): Promise<void> {
    const { isAnswered, candidate } = attempt;
    const hasLeft = this.#call.response.destroyed && isAnswered;
    const metered = hasLeft ? await candidate.prepared.meter(undefined, 0) : nothingUsed;
    await this.#settle(opening, attempt, { end: hasLeft ? 'client-left' : 'failed', metered, error });
  }

  #settle(opening: CallOpening, attempt: Attempt, outcome: AudioOutcome): Promise<CallEntry> {
    const { head, firstByteMs, candidate } = attempt;
    attempt.isSettled = true;
    const { journal, clock } = this.#gateway;
    const { startedMs, settings, report, credit, client } = this.#call;
    const durationMs = Math.round(clock.monotonicMs() - startedMs);
    const upstreamRequestId = head === undefined ? undefined : readUpstreamRequestId(head.headers, candidate.target.upstream);
    const trace = { upstreamStatus: head?.status, upstreamRequestId, firstByteMs, durationMs };
    const { left } = client;
    const { priceBook } = settings.routing;
    const charged = settleAudio(opening, left === undefined ? outcome : endLeftAudio(outcome), trace, {
      priceBook,
      bounds: () => candidate.prepared.bounds(),
      possible: () => candidate.prepared.possible(),
    });
    const isReported = outcome.end === 'finished' && outcome.metered.rawUsage !== undefined;
    const entry = left === undefined ? charged : { ...charged, disconnect: describeLeaving(left, isReported, durationMs) };
    credit?.charge(entry);
    return new Promise((resolve) => {
      journal.done(entry, () => resolve(entry));
      report.settled(entry, outcome.error);
    });
  }
}
