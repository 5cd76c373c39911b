import { setTimeout as sleep } from 'node:timers/promises';

import type { ApiKey } from '../../../../accounts/api-key.ts';
import type { VideoProtocol, VideoSubmission } from '../../../../dialects/video-tasks/video-protocol.ts';
import { GatewayError } from '../../../../inference/gateway-error.ts';
import type { VideoRequest } from '../../../../inference/video.ts';
import type { Idempotency } from '../../../../tasks/task-store.ts';
import type { SealedVideoRequest, VideoTask } from '../../../../tasks/video-task.ts';
import { type AskingCall, createAskingCall, digestRequest } from '../../../attempts/health/asking-call.ts';
import { chooseOther, judgeFailure } from '../../../attempts/retry/next-attempt.ts';
import type { RetryDecision } from '../../../attempts/retry/retry-policy.ts';
import { seeHealth } from '../../../attempts/retry/see-health.ts';
import { readPrices } from '../../../attempts/books/read-prices.ts';
import { subjectOf } from '../../../attempts/routing/route.ts';
import type { Target } from '../../../attempts/routing/target.ts';
import { timeoutsOf } from '../../../attempts/routing/target-timeouts.ts';
import type { NewVideoTask } from '../../../../tasks/submit-task.ts';
import type { VideoTasks } from '../../../../tasks/create-video-tasks.ts';
import type { VideoContext } from '../video-context.ts';
import { beginHeld } from './begin-held.ts';
import { type Submitted, submit } from './submit.ts';
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
type Fitted = {
  readonly target: Target;
  readonly protocol: VideoProtocol;
  readonly submission: VideoSubmission;
  /** What the task tells of the video to come, which is as long and large as its source where the target keeps that. */
  readonly shape: Pick<VideoRequest, 'durationSeconds' | 'resolution' | 'aspectRatio'>;
};

type Refused = Extract<Submitted, { type: 'refused' | 'failed' }>;

/** A withdrawn intent leaves the store a moment later; its idempotency key is free then. */
const withdrawalWaits = { everyMs: 20, most: 100 } as const;

/** The attempts to have a video made: at one target after the other, as long as it is certain that none has taken it. */
export class VideoAttempts {
  readonly #context: VideoContext;
  readonly #wish: VideoWish;
  readonly #withdrawn = new Set<string>();
  /** Lets health count the attempts of one call once. */
  readonly #asking: AskingCall;
  #attempts = 0;
  /** Why the first of those that could not be asked could not. */
  #unfit: GatewayError | undefined;

  constructor(context: VideoContext, wish: VideoWish) {
    this.#context = context;
    this.#wish = wish;
    const { prompt, mode, requestedModel, metadata } = wish.request;
    const digest = (): string => digestRequest(Buffer.from(JSON.stringify({ prompt, mode, requestedModel, metadata })));
    this.#asking = createAskingCall(context.caller.userId, digest);
  }

  /** @throws GatewayError where no target takes it; then nothing is open and nothing is charged */
  async run(targets: readonly Target[]): Promise<MadeTask> {
    const waiting = [...targets];
    let next = await this.#fitFirst(waiting, () => waiting[0]);
    for (;;) {
      if (next === undefined) throw this.#unfit ?? new Error('a request for a video ran out of targets without an answer');
      const attempt: MadeTask | Refused = await this.#attempt(next);
      if ('task' in attempt) return attempt;
      next = await this.#chooseNext(next.target, attempt, waiting);
    }
  }

  /** The first that can be asked of those that are chosen one after the other; each is no longer waiting then. */
  async #fitFirst(waiting: Target[], choose: () => Target | undefined): Promise<Fitted | undefined> {
    for (let target = choose(); target !== undefined; target = choose()) {
      waiting.splice(waiting.indexOf(target), 1);
      const fitted = await this.#fit(target);
      if (!(fitted instanceof GatewayError)) return fitted;
      this.#unfit ??= fitted;
    }
    return undefined;
  }

  /** The request in the target's own interface; or why it cannot be said there. */
  async #fit(target: Target): Promise<Fitted | GatewayError> {
    const { upstream, upstreamModel } = target;
    const { request, source } = this.#wish;
    if (upstream.videoProtocol === undefined) throw new Error(`${upstream.id} makes no videos and was chosen for one`);
    const protocol = this.#context.videos.protocols[upstream.videoProtocol];
    try {
      const known = source === undefined ? request : await source.fit(request, target);
      return { target, protocol, submission: protocol.encodeSubmission(known, upstreamModel), shape: known };
    } catch (error) {
      if (error instanceof GatewayError) return error;
      throw error;
    }
  }

  async #attempt(fitted: Fitted): Promise<MadeTask | Refused> {
    const { gateway, videos } = this.#context;
    const begun = await this.#begin(fitted);
    if (begun.type === 'existing') return { task: begun.task, ignored: [], isRepeated: true };
    const startedMs = gateway.clock.monotonicMs();
    const submitted = await this.#submit(fitted, begun.task).catch(async (error: unknown) => {
      // A defect of ours: nobody knows how far it came.
      await videos.tasks.leaveUnclear(begun.task);
      throw error;
    });
    const { ignored } = fitted.submission;
    if (submitted.type === 'accepted')
      return { task: await videos.tasks.accept(begun.task, submitted.upstreamTaskId, submitted.reading), ignored };
    const { error, answer } = submitted;
    if (submitted.type === 'unclear') {
      const facts = { callId: this.#context.callId, task: begun.task.id, upstream: begun.task.upstream, reason: error.internal };
      gateway.logger.warn(facts, 'it is not clear whether an upstream took a video');
      return { task: await videos.tasks.leaveUnclear(begun.task), ignored };
    }
    const durationMs = Math.round(gateway.clock.monotonicMs() - startedMs);
    this.#withdrawn.add(begun.task.id);
    const status = answer === undefined ? {} : { upstreamStatus: answer.status };
    await videos.tasks.refuse(begun.task, { errorCode: error.code, durationMs, ...status });
    return submitted;
  }

  /** Records what is about to be asked for. Each attempt has a task of its own: what the one before came to is settled, and nothing of it is left open. */
  async #begin(fitted: Fitted): Promise<{ readonly type: 'begun' | 'existing'; readonly task: VideoTask }> {
    const { gateway, settings, caller, callId } = this.#context;
    const { target, protocol, submission } = fitted;
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
      callId: this.#attempts === 0 ? callId : gateway.newId('req'),
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
    this.#attempts += 1;
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

  async #submit({ target, protocol, submission }: Fitted, task: VideoTask): Promise<Submitted> {
    const { gateway, settings, request } = this.#context;
    const ticket = gateway.health.of(subjectOf(target)).begin(this.#asking);
    const submitted = await submit({
      target,
      protocol,
      submission,
      idempotencyKey: task.callId,
      headers: request.headers as Readonly<Record<string, string | undefined>>,
      timeouts: timeoutsOf(target, false, settings.timeouts),
      limits: settings.limits,
      onHead: () => ticket.headArrived(),
    });
    if (submitted.type === 'accepted') {
      ticket.end({ type: 'answered' });
      gateway.retryBudget.succeeded(target.upstream.id);
    } else ticket.end(this.#decide(submitted).verdict);
    return submitted;
  }

  #decide({ error, answer }: Exclude<Submitted, { type: 'accepted' }>): RetryDecision {
    const known = { error, attempt: this.#attempts, isDelivered: false, hasClientLeft: false };
    return judgeFailure(this.#context.gateway, { ...known, upstreamStatus: answer?.status, headers: answer?.headers });
  }

  /** Always another target: the same is not asked twice for one video. @throws the failure where no other may be asked */
  async #chooseNext(failed: Target, refused: Refused, waiting: Target[]): Promise<Fitted> {
    const { gateway, settings } = this.#context;
    const decision = this.#decide(refused);
    if (refused.type !== 'failed' || !decision.retry || this.#attempts >= settings.retries.attemptsMax) throw refused.error;
    const see = seeHealth(gateway, settings, this.#asking);
    const fitted = await this.#fitFirst(waiting, () => chooseOther(waiting, { failed, decision }, see)?.target);
    if (fitted === undefined || !gateway.retryBudget.takeFailover(fitted.target.upstream.id, decision.cost)) throw refused.error;
    return fitted;
  }
}

/** What is kept of a request, sealed. Length and resolution are those that were sent, where the client left them open. */
function toSealed(request: VideoRequest, { shape, submission, protocol }: Fitted): SealedVideoRequest {
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
