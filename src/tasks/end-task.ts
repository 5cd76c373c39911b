import type { CallEntry, Dispute, FailedAttempt } from '../billing/ledger/call-entry.ts';
import type { Usage } from '../inference/usage.ts';
import type { NewDelivery } from './callbacks/callback-store.ts';
import type { TaskFailure } from './read-poll.ts';
import type { RatedVideo, TaskParts } from './task-parts.ts';
import { openSealedRequest } from './task-seal.ts';
import type { TaskEnd } from './task-store.ts';
import type { SealedVideoRequest, StoredMedia, VideoTask } from './video-task.ts';

/** How a task ended: with a file in our own storage, or with a reason. */
export type TaskOutcome =
  | { readonly type: 'completed'; readonly media: StoredMedia; readonly durationMs?: number | undefined; readonly raw?: unknown }
  | ({ readonly type: 'failed' } & TaskFailure);

/** Why no upstream accepted a request. */
export type Refusal = {
  readonly upstreamStatus?: number;
  readonly errorCode: string;
  readonly durationMs: number;
  readonly failedAttempts?: readonly FailedAttempt[];
};

type EndParts = Pick<TaskParts, 'sealer' | 'rate' | 'sealUrl' | 'newId' | 'retentionMs' | 'owner' | 'logger'>;

/** No video is longer. A larger number has another unit or is wrong, and is not charged. */
const durationMsMax = 6 * 3_600_000;

/** A plausible length in milliseconds; undefined for any other. */
export function plausibleDurationMs(durationMs: number | undefined): number | undefined {
  if (durationMs === undefined || !Number.isFinite(durationMs)) return undefined;
  const whole = Math.round(durationMs);
  return whole > 0 && whole <= durationMsMax ? whole : undefined;
}

/**
 * Describes the end of a task with its ledger entry and callbacks, for one transaction of the store. The file of a
 * completed task is stored already.
 */
export function describeEnd(parts: EndParts, task: VideoTask, outcome: TaskOutcome, nowMs: number): TaskEnd {
  const request = openSealedRequest(parts.sealer, task);
  if (request === undefined) parts.logger.error({ task: task.id }, 'opening a video request failed');
  const durationMs = plausibleDurationMs(outcome.durationMs);
  const completed = outcome.type === 'completed';
  return {
    id: task.id,
    owner: parts.owner,
    phase: outcome.type,
    ...(completed ? { media: outcome.media, expiresAtMs: nowMs + keptMs(parts, task, request) } : { error: outcome.error }),
    ...(completed && durationMs !== undefined ? { durationMs } : {}),
    endedAtMs: nowMs,
    entry: settle(parts, { task, outcome, durationMs, request, nowMs }),
    deliveries: deliveriesOf(parts, task, request, { eventType: completed ? 'video.completed' : 'video.failed', nowMs }),
  };
}

const dayMs = 86_400_000;

function keptMs({ retentionMs }: EndParts, task: VideoTask, request: SealedVideoRequest | undefined): number {
  return request?.retentionDays === undefined ? retentionMs(task) : request.retentionDays * dayMs;
}

/** The ledger entry of a request that no upstream accepted. It costs nothing. */
export function describeRefusal(parts: Pick<TaskParts, 'sealer'>, task: VideoTask, refusal: Refusal): CallEntry {
  const { upstreamStatus, errorCode, durationMs, failedAttempts } = refusal;
  return {
    ...opening(task, openSealedRequest(parts.sealer, task)),
    ...(failedAttempts === undefined || failedAttempts.length === 0 ? {} : { failedAttempts }),
    end: 'failed',
    ...(upstreamStatus === undefined ? {} : { upstreamStatus }),
    errorCode,
    usage: {},
    estimated: false,
    durationMs,
    charge: { amountNanoUsd: 0n, lines: [] },
  };
}

type Settlement = {
  readonly task: VideoTask;
  readonly outcome: TaskOutcome;
  readonly durationMs: number | undefined;
  readonly request: SealedVideoRequest | undefined;
  readonly nowMs: number;
};

/** Charges a delivered video, or the part of a failure that the vendor bills. Other failures cost nothing. */
function settle({ rate }: EndParts, { task, outcome, durationMs, request, nowMs }: Settlement): CallEntry {
  const isCharged = outcome.type === 'completed' || outcome.isBilled;
  const disputed = isCharged ? disputeLength(task, outcome.durationMs, durationMs) : undefined;
  const usage = isCharged ? usageOf(task, durationMs) : {};
  const { charge, priceVersion = task.priceVersion }: RatedVideo = isCharged
    ? rate(task, usage)
    : { charge: { amountNanoUsd: 0n, lines: [] } };
  return {
    ...opening(task, request),
    priceVersion,
    end: isCharged ? 'finished' : 'failed',
    ...(task.upstreamTaskId === undefined ? {} : { upstreamStatus: 200 }),
    ...(outcome.type === 'failed' ? { errorCode: outcome.error.code } : {}),
    usage,
    ...(outcome.raw === undefined ? {} : { rawUsage: outcome.raw }),
    // If the length is unknown, the requested length is charged.
    estimated: disputed !== undefined || (isCharged && durationMs === undefined && task.heldUsage.outputVideoMs !== undefined),
    ...(disputed === undefined ? {} : { disputed }),
    durationMs: Math.max(0, nowMs - task.createdAtMs),
    charge,
  };
}

/** The charged usage is at most the held usage, which follows from the request. */
function usageOf({ heldUsage }: VideoTask, durationMs: number | undefined): Usage {
  const { outputVideoMs: most = durationMs } = heldUsage;
  return durationMs === undefined || most === undefined ? heldUsage : { ...heldUsage, outputVideoMs: Math.min(durationMs, most) };
}

/** Tolerance: vendors round lengths to whole frames, and some to whole seconds. */
const roundingMs = 1000;

/** Why a reported length is not charged: it is implausible, or longer than requested. */
function disputeLength({ heldUsage }: VideoTask, told: number | undefined, durationMs: number | undefined): Dispute | undefined {
  if (told === undefined) return undefined;
  const count = 'outputVideoMs';
  if (durationMs === undefined) return { figures: [{ count, reason: 'malformed' }], reported: {} };
  const { outputVideoMs: most = Infinity } = heldUsage;
  if (durationMs <= most + roundingMs) return undefined;
  return {
    figures: [{ count, reason: 'beyond-bound', reported: durationMs, most }],
    reported: { ...heldUsage, outputVideoMs: durationMs },
  };
}

function opening(task: VideoTask, request: SealedVideoRequest | undefined) {
  return {
    callId: task.callId,
    acceptedAtMs: task.createdAtMs,
    userName: task.userName,
    keyId: task.keyId,
    keyName: task.keyName,
    ...(task.team === undefined ? {} : { team: task.team }),
    ...(task.payer === undefined ? {} : { payer: task.payer }),
    dialect: task.form,
    requestedModel: task.requestedModel,
    upstream: task.upstream,
    vendor: task.vendor,
    upstreamModel: task.upstreamModel,
    stream: false,
    ...(task.tags === undefined ? {} : { tags: task.tags }),
    inputCharacters: request?.prompt.length ?? 0,
    priceVersion: task.priceVersion,
    ...(task.form === task.protocol ? {} : { translation: { upstreamDialect: task.protocol, notes: [] } }),
    ...(Object.keys(task.pricingParameters).length === 0 ? {} : { pricingParameters: task.pricingParameters }),
  };
}

function deliveriesOf(
  { newId, sealUrl }: Pick<EndParts, 'newId' | 'sealUrl'>,
  task: VideoTask,
  request: SealedVideoRequest | undefined,
  { eventType, nowMs }: { readonly eventType: 'video.completed' | 'video.failed'; readonly nowMs: number },
): readonly NewDelivery[] {
  if (request?.callbackUrl === undefined) return [];
  const id = newId('msg');
  const event = { id: newId('evt'), object: 'event', created_at: Math.floor(nowMs / 1000), type: eventType, data: { id: task.id } };
  const sealedUrl = sealUrl(request.callbackUrl, id);
  return [{ id, userName: task.userName, subject: task.id, eventType, sealedUrl, payload: JSON.stringify(event), createdAtMs: nowMs }];
}
