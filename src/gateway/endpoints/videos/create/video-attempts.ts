import { teamOf } from '../../../admission/team-of.ts';
import { setTimeout as sleep } from 'node:timers/promises';

import type { ApiKey } from '../../../../accounts/api-key.ts';
import type { VideoProtocol, VideoSubmission } from '../../../../dialects/video-tasks/video-protocol.ts';
import { chatDialects } from '../../../../dialects/registry.ts';
import { GatewayError } from '../../../../inference/gateway-error.ts';
import type { VideoRequest } from '../../../../inference/video.ts';
import type { UpstreamRequest } from '../../../../platform/http/upstream-client.ts';
import type { Idempotency } from '../../../../tasks/task-store.ts';
import type { SealedVideoRequest, VideoTask } from '../../../../tasks/video-task.ts';
import type { AttemptPlan, CallJob, LocalAnswer } from '../../../attempts/call-job.ts';
import { CallAttempts } from '../../../attempts/call-attempts.ts';
import type { ExchangeObserver, Outcome } from '../../../attempts/exchange/exchange-context.ts';
import { createUpstreamHeaders } from '../../../attempts/exchange/prepare-request.ts';
import { digestRequest } from '../../../attempts/health/attempt.ts';
import { tagsOf } from '../../../attempts/books/tags-of.ts';
import { readPrices } from '../../../attempts/books/open-attempt.ts';
import { serviceAt, type Target } from '../../../attempts/routing/target.ts';
import { awaitReply } from '../../../replies/event-reply.ts';
import { createByteSink } from '../../../replies/connection-sink.ts';
import { createSilentReport } from '../../../telemetry/call-report.ts';
import type { NewVideoTask } from '../../../../tasks/submit-task.ts';
import type { VideoTasks } from '../../../../tasks/create-video-tasks.ts';
import { toReading } from '../upstream/video-upstreams.ts';
import type { VideoContext } from '../video-context.ts';
import { beginHeld } from './begin-held.ts';
import { type Acceptance, createSubmissionRelay, fateOf, limitSubmission, limitTimes } from './submit.ts';
import type { VideoSource } from './video-source.ts';

/** The video that a task will make. */
export type VideoOrder = {
  readonly request: VideoRequest;
  readonly source: VideoSource | undefined;
  readonly idempotency: Idempotency | undefined;
  readonly acceptedAtMs: number;
};

export type SubmittedTask = {
  readonly task: VideoTask;
  /** Fields that the upstream's interface does not support. */
  readonly ignored: readonly string[];
  /** Set if an earlier request with the same key created the task. */
  readonly isRepeated?: true;
};

/** A request for one target. */
type SubmissionPlan = AttemptPlan & {
  /** The id of the attempt in the books. */
  readonly rowId: string;
  readonly protocol: VideoProtocol;
  readonly submission: VideoSubmission;
  /** The form of the video. It is that of the source if the target stores the source. */
  readonly shape: Pick<VideoRequest, 'durationSeconds' | 'resolution' | 'aspectRatio'>;
  /** The upstream's acceptance, if it has arrived. */
  readonly accepted: () => Acceptance | undefined;
};

/** A running attempt. */
type SentAttempt = {
  readonly task: VideoTask;
  readonly plan: SubmissionPlan;
  readonly startedMs: number;
  readonly status: number | undefined;
};

/** The store removes a withdrawn task a moment later, which frees its idempotency key. */
const withdrawalWaits = { everyMs: 20, most: 100 } as const;

function ignoreRefusal(error: unknown): void {
  if (!(error instanceof GatewayError)) throw error;
}

/** A client that never leaves: otherwise it would be unknown whether the upstream accepted the submission. */
const patient = new AbortController().signal;

/**
 * The attempts of a video request, at one target after another, while it is certain that none accepted it. Each attempt
 * is a task: the task has the hold, and its end is a ledger row.
 */
export class VideoAttempts implements CallJob<SubmissionPlan> {
  readonly isFree = true;
  readonly limitTimes = limitTimes;
  readonly #context: VideoContext;
  readonly #order: VideoOrder;
  readonly #withdrawn = new Set<string>();
  #planned = 0;
  /** The result of the last attempt. */
  #submitted: Promise<SubmittedTask> | undefined;
  /** The attempt that is recorded and has not ended. */
  #open: VideoTask | undefined;
  #answer: (() => void) | undefined;

  constructor(context: VideoContext, order: VideoOrder) {
    this.#context = context;
    this.#order = order;
  }

  /** @throws GatewayError if no target accepts it; then no task is open and nothing is charged */
  async run(targets: readonly Target[]): Promise<SubmittedTask> {
    const { gateway, settings, caller, callId, report, videos } = this.#context;
    const { request, acceptedAtMs } = this.#order;
    const inputCharacters = request.prompt.length;
    const call = {
      callId,
      label: 'video-tasks',
      settings: limitSubmission(settings),
      caller,
      facts: { requestedModel: request.requestedModel, stream: false, inputCharacters, needs: [], outputTokensMax: 0 },
      framing: undefined,
      targets,
      taken: undefined,
      admission: { releaseBytes: () => {} },
      acceptedAtMs,
      startedMs: gateway.clock.monotonicMs(),
      report: report ?? createSilentReport(),
    };
    try {
      await awaitReply(patient, (response) => {
        const sink = createByteSink({ callId, response, voice: chatDialects['openai-chat'].voice, framing: undefined });
        this.#answer = () => sink.answer(200, {}, Buffer.alloc(0));
        return new CallAttempts(gateway, call, this, sink).start();
      });
    } finally {
      // A bug: it is unknown whether the upstream got the submission.
      if (this.#open !== undefined) await videos.tasks.leaveUnclear(this.#open);
    }
    if (this.#submitted === undefined) throw new Error('a video request ended without an attempt');
    return await this.#submitted;
  }

  digest(): string {
    const { prompt, mode, requestedModel, metadata } = this.#order.request;
    return digestRequest(Buffer.from(JSON.stringify({ prompt, mode, requestedModel, metadata })));
  }

  sent(): void {}

  forget(): void {}

  bound(): never {
    throw new Error('a submission has no usage');
  }

  /** Encodes the request for the target's interface. @throws GatewayError if the interface cannot express it */
  async plan(target: Target): Promise<SubmissionPlan> {
    const { upstream, upstreamModel } = target;
    const { gateway, videos, callId } = this.#context;
    const { request, source } = this.#order;
    if (upstream.services.videos === undefined) throw new Error(`${upstream.id} was chosen for a video and has no video interface`);
    const protocol = videos.protocols[upstream.services.videos];
    const shape = source === undefined ? request : await source.fit(request, target);
    const submission = protocol.encodeSubmission(shape, upstreamModel, upstream.facts);
    const rowId = this.#planned === 0 ? callId : gateway.newId('req');
    this.#planned += 1;
    let receipt: Acceptance | undefined;
    return {
      kind: 'exchange',
      upstreamRequest: this.#createRequest(target, submission, rowId),
      relay: createSubmissionRelay(protocol, target, (said) => (receipt = said)),
      rowId,
      protocol,
      submission,
      shape,
      accepted: () => receipt,
    };
  }

  #createRequest(target: Target, { path, headers, body }: VideoSubmission, rowId: string): UpstreamRequest {
    const own = this.#context.request.headers as Readonly<Record<string, string | undefined>>;
    const dialects = { client: 'openai-chat', upstream: 'openai-chat' } as const;
    const passed = createUpstreamHeaders({ operation: 'generate', body: {}, headers: own }, target, dialects, undefined);
    return {
      path: serviceAt(target.upstream, path, target.upstreamModel),
      method: 'POST',
      headers: { ...passed, ...headers, 'idempotency-key': rowId },
      body,
    };
  }

  /** The next attempt goes to another target, and only if nothing was accepted. */
  mayFollow(error: GatewayError, failed: Target, next: Target): boolean {
    return fateOf(error) === 'failed' && next !== failed;
  }

  async record({ target, plan }: { readonly target: Target; readonly plan: SubmissionPlan }): Promise<ExchangeObserver | LocalAnswer> {
    // The attempt before is settled and closed.
    await this.#submitted?.catch(ignoreRefusal);
    const { task, type } = await this.#begin(target, plan).catch((error: unknown) => this.#endUnrecorded(error));
    if (type === 'existing') {
      this.#submitted = Promise.resolve({ task, ignored: [], isRepeated: true });
      return { kind: 'local', answer: () => this.#answer?.() };
    }
    this.#open = task;
    const startedMs = this.#context.gateway.clock.monotonicMs();
    let status: number | undefined;
    let ended: Promise<SubmittedTask> | undefined;
    return {
      head: (told) => (status = told),
      firstContent: () => {},
      progress: () => {},
      settled: (outcome, then = () => {}) => {
        if (ended === undefined) {
          ended = this.#conclude(outcome, { task, plan, startedMs, status });
          this.#submitted = ended;
          this.#open = undefined;
        }
        void ended.then(then, then);
      },
    };
  }

  /** Ends the request because an attempt could not be recorded, also after a refused one. */
  #endUnrecorded(error: unknown): never {
    const submitted = Promise.reject(error);
    submitted.catch(() => {});
    this.#submitted = submitted;
    throw error;
  }

  async #conclude({ error, end }: Outcome, { task, plan, startedMs, status }: SentAttempt): Promise<SubmittedTask> {
    const { gateway, videos, callId } = this.#context;
    const { ignored } = plan.submission;
    const receipt = plan.accepted();
    if (end === 'finished' && receipt !== undefined)
      return { task: await videos.tasks.accept(task, receipt.upstreamTaskId, toReading(receipt.video)), ignored };
    if (error !== undefined && fateOf(error) === 'unclear') {
      const facts = { callId, task: task.id, upstream: task.upstream, reason: error.internal };
      gateway.logger.warn(facts, 'video submission unclear');
      return { task: await videos.tasks.leaveUnclear(task), ignored };
    }
    const refusal = error ?? new GatewayError('request_timeout', 'the request was cancelled before it was sent');
    const durationMs = Math.round(gateway.clock.monotonicMs() - startedMs);
    this.#withdrawn.add(task.id);
    const upstreamStatus = status === undefined ? {} : { upstreamStatus: status };
    await videos.tasks.refuse(task, { errorCode: refusal.code, durationMs, ...upstreamStatus });
    throw refusal;
  }

  /** Records the task before its submission. */
  async #begin(target: Target, fitted: SubmissionPlan): Promise<{ readonly type: 'begun' | 'existing'; readonly task: VideoTask }> {
    const { gateway, settings, caller } = this.#context;
    const { protocol, submission, rowId } = fitted;
    const { request, source, acceptedAtMs } = this.#order;
    const { upstream, upstreamModel } = target;
    const { priceBook } = settings.routing;
    const { usage } = submission.billing;
    const { requestedModel } = request;
    const read = readPrices(priceBook, { target, requestedModel, acceptedAtMs, uses: { outputVideoMs: 0 } }, submission.body);
    const pricingParameters = { ...submission.billing.parameters, ...read };
    const payer = { userName: caller.userName, keyId: caller.id };
    const planned = { vendor: upstream.vendor.id, upstreamModel, requestedModel, acceptedAtMs, pricingParameters, ...payer };
    const intent: NewVideoTask = {
      callId: rowId,
      userName: caller.userName,
      keyId: caller.id,
      keyName: caller.name,
      ...teamOf(caller),
      ...tagsOf(caller),
      form: request.form,
      mode: request.mode,
      requestedModel,
      upstream: upstream.id,
      credentialId: upstream.credentialId,
      vendor: upstream.vendor.id,
      upstreamModel,
      protocol: protocol.id,
      createdAtMs: acceptedAtMs,
      ...(source === undefined ? {} : { remixedFrom: source.task.id }),
      priceVersion: priceBook.version,
      pricingParameters,
      heldUsage: usage,
      heldNanoUsd: priceBook.most({ ...planned, most: usage }),
      request: { ...toSealed(request, fitted), ...retentionOf(caller) },
    };
    return await beginHeld(gateway, caller, intent, (held) => this.#record(held));
  }

  async #record(intent: NewVideoTask): ReturnType<VideoTasks['begin']> {
    const { videos } = this.#context;
    const { idempotency } = this.#order;
    for (let waits = 0; ; waits += 1) {
      const begun = await videos.tasks.begin(intent, idempotency);
      if (begun.type === 'begun' || !this.#withdrawn.has(begun.task.id) || waits === withdrawalWaits.most) return begun;
      await sleep(withdrawalWaits.everyMs);
    }
  }
}

/** The stored request, encrypted. Omitted durations and resolutions are those that were sent. */
function toSealed(request: VideoRequest, { shape, submission, protocol }: SubmissionPlan): SealedVideoRequest {
  const { prompt, metadata, mode, user, callbackUrl } = request;
  const { aspectRatio } = shape;
  const { usage, parameters } = submission.billing;
  const isMadeAnew = mode !== 'remix' && mode !== 'extension';
  const sentMs = isMadeAnew ? usage.outputVideoMs : undefined;
  const durationSeconds = shape.durationSeconds ?? (sentMs === undefined ? undefined : sentMs / 1000);
  const resolution = shape.resolution ?? (isMadeAnew ? parameters['resolution'] : undefined);
  return {
    prompt,
    metadata,
    ...(durationSeconds === undefined ? {} : { durationSeconds }),
    ...(resolution === undefined ? {} : { resolution }),
    ...(aspectRatio === undefined ? {} : { aspectRatio }),
    ...(user === undefined ? {} : { user }),
    ...(callbackUrl === undefined ? {} : { callbackUrl }),
    ...(protocol.isIdempotent
      ? { submission: { path: submission.path, headers: submission.headers, bodyBase64: submission.body.toString('base64') } }
      : {}),
  };
}

/** The shorter retention of the caller's key and user; undefined if neither has one. */
function retentionOf({ limits, userLimits }: ApiKey): Pick<SealedVideoRequest, 'retentionDays'> {
  const days = [limits, userLimits].flatMap((each) => each?.mediaRetentionDays ?? []);
  return days.length === 0 ? {} : { retentionDays: Math.min(...days) };
}
