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
import { readPrices } from '../../../attempts/books/open-attempt.ts';
import type { Target } from '../../../attempts/routing/target.ts';
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

/** What is to be made. */
export type VideoWish = {
  readonly request: VideoRequest;
  readonly source: VideoSource | undefined;
  readonly idempotency: Idempotency | undefined;
  readonly acceptedAtMs: number;
};

export type MadeTask = {
  readonly task: VideoTask;
  /** Fields that the upstream's interface has no place for. */
  readonly ignored: readonly string[];
  /** It was asked for before, under the same key. */
  readonly isRepeated?: true;
};

/** A request as one target is to get it. */
type SubmissionPlan = AttemptPlan & {
  /** The id of the attempt in the books. */
  readonly rowId: string;
  readonly protocol: VideoProtocol;
  readonly submission: VideoSubmission;
  /** What the task tells of the video to come, which is as long and large as its source where the target keeps that. */
  readonly shape: Pick<VideoRequest, 'durationSeconds' | 'resolution' | 'aspectRatio'>;
  /** The upstream's receipt, when it has come. */
  readonly accepted: () => Acceptance | undefined;
};

/** What is known of an attempt that is being made. */
type SentAttempt = {
  readonly task: VideoTask;
  readonly plan: SubmissionPlan;
  readonly startedMs: number;
  readonly status: number | undefined;
};

/** A withdrawn intent leaves the store a moment later; its idempotency key is free then. */
const withdrawalWaits = { everyMs: 20, most: 100 } as const;

function ignoreRefusal(error: unknown): void {
  if (!(error instanceof GatewayError)) throw error;
}

/** What never leaves and never reads slowly: whether its upstream has taken a submission would not be known then. */
const patient = new AbortController().signal;

/**
 * The attempts to have a video made: at one target after the other, as long as it is certain that none has taken it. Each of them is a task, which is its books: what is held for it,
 * and the row that it ends as.
 */
export class VideoAttempts implements CallJob<SubmissionPlan> {
  readonly isFree = true;
  readonly limitTimes = limitTimes;
  readonly #context: VideoContext;
  readonly #wish: VideoWish;
  readonly #withdrawn = new Set<string>();
  #planned = 0;
  /** What the last attempt came to. */
  #made: Promise<MadeTask> | undefined;
  /** An attempt that is recorded and has not ended. */
  #open: VideoTask | undefined;
  #answer: (() => void) | undefined;

  constructor(context: VideoContext, wish: VideoWish) {
    this.#context = context;
    this.#wish = wish;
  }

  /** @throws GatewayError where no target takes it; then nothing is open and nothing is charged */
  async run(targets: readonly Target[]): Promise<MadeTask> {
    const { gateway, settings, caller, callId, report, videos } = this.#context;
    const { request, acceptedAtMs } = this.#wish;
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
      // A defect of ours: nobody knows how far it came.
      if (this.#open !== undefined) await videos.tasks.leaveUnclear(this.#open);
    }
    if (this.#made === undefined) throw new Error('a request for a video was answered without an attempt');
    return await this.#made;
  }

  digest(): string {
    const { prompt, mode, requestedModel, metadata } = this.#wish.request;
    return digestRequest(Buffer.from(JSON.stringify({ prompt, mode, requestedModel, metadata })));
  }

  sent(): void {}

  forget(): void {}

  bound(): never {
    throw new Error('a submission has no usage');
  }

  /** The request in the target's own interface. @throws GatewayError where it cannot be said there */
  async plan(target: Target): Promise<SubmissionPlan> {
    const { upstream, upstreamModel } = target;
    const { gateway, videos, callId } = this.#context;
    const { request, source } = this.#wish;
    if (upstream.services.videos === undefined) throw new Error(`${upstream.id} makes no videos and was chosen for one`);
    const protocol = videos.protocols[upstream.services.videos];
    const shape = source === undefined ? request : await source.fit(request, target);
    const submission = protocol.encodeSubmission(shape, upstreamModel);
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
      path: `${target.upstream.basePath}${path}`,
      method: 'POST',
      headers: { ...passed, ...headers, 'idempotency-key': rowId },
      body,
    };
  }

  /** Always another target, and only where nothing was taken: the same is not asked twice for one video. */
  mayFollow(error: GatewayError, failed: Target, next: Target): boolean {
    return fateOf(error) === 'failed' && next !== failed;
  }

  async record({ target, plan }: { readonly target: Target; readonly plan: SubmissionPlan }): Promise<ExchangeObserver | LocalAnswer> {
    // What the attempt before came to is settled, and nothing of it is left open.
    await this.#made?.catch(ignoreRefusal);
    const { task, type } = await this.#begin(target, plan).catch((error: unknown) => this.#endUnrecorded(error));
    if (type === 'existing') {
      this.#made = Promise.resolve({ task, ignored: [], isRepeated: true });
      return { kind: 'local', answer: () => this.#answer?.() };
    }
    this.#open = task;
    const startedMs = this.#context.gateway.clock.monotonicMs();
    let status: number | undefined;
    let ended: Promise<MadeTask> | undefined;
    return {
      head: (told) => (status = told),
      firstContent: () => {},
      progress: () => {},
      settled: (outcome, then = () => {}) => {
        if (ended === undefined) {
          ended = this.#conclude(outcome, { task, plan, startedMs, status });
          this.#made = ended;
          this.#open = undefined;
        }
        void ended.then(then, then);
      },
    };
  }

  /** The client is told why an attempt could not be recorded, also where that was to follow a refused one. */
  #endUnrecorded(error: unknown): never {
    const made = Promise.reject(error);
    made.catch(() => {});
    this.#made = made;
    throw error;
  }

  async #conclude({ error, end }: Outcome, { task, plan, startedMs, status }: SentAttempt): Promise<MadeTask> {
    const { gateway, videos, callId } = this.#context;
    const { ignored } = plan.submission;
    const receipt = plan.accepted();
    if (end === 'finished' && receipt !== undefined)
      return { task: await videos.tasks.accept(task, receipt.upstreamTaskId, toReading(receipt.video)), ignored };
    if (error !== undefined && fateOf(error) === 'unclear') {
      const facts = { callId, task: task.id, upstream: task.upstream, reason: error.internal };
      gateway.logger.warn(facts, 'it is not clear whether an upstream took a video');
      return { task: await videos.tasks.leaveUnclear(task), ignored };
    }
    const refusal = error ?? new GatewayError('request_timeout', 'the request was given up before it was sent');
    const durationMs = Math.round(gateway.clock.monotonicMs() - startedMs);
    this.#withdrawn.add(task.id);
    const upstreamStatus = status === undefined ? {} : { upstreamStatus: status };
    await videos.tasks.refuse(task, { errorCode: refusal.code, durationMs, ...upstreamStatus });
    throw refusal;
  }

  /** Records what is about to be asked for. */
  async #begin(target: Target, fitted: SubmissionPlan): Promise<{ readonly type: 'begun' | 'existing'; readonly task: VideoTask }> {
    const { gateway, settings, caller } = this.#context;
    const { protocol, submission, rowId } = fitted;
    const { request, source, acceptedAtMs } = this.#wish;
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
    const { idempotency } = this.#wish;
    for (let waits = 0; ; waits += 1) {
      const begun = await videos.tasks.begin(intent, idempotency);
      if (begun.type === 'begun' || !this.#withdrawn.has(begun.task.id) || waits === withdrawalWaits.most) return begun;
      await sleep(withdrawalWaits.everyMs);
    }
  }
}

/** What is kept of a request, sealed. Length and resolution are those that were sent, where the client left them open. */
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

/** For how long the file is to be kept, where the caller's key or user has a word in it: the shorter time of both. */
function retentionOf({ limits, userLimits }: ApiKey): Pick<SealedVideoRequest, 'retentionDays'> {
  const days = [limits, userLimits].flatMap((each) => each?.mediaRetentionDays ?? []);
  return days.length === 0 ? {} : { retentionDays: Math.min(...days) };
}
