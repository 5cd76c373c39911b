import { GatewayError } from '../inference/gateway-error.ts';
import { describeRefusal, type Refusal } from './end-task.ts';
import type { LeaseKeeper } from './keep-leases.ts';
import { nextPollAtMs } from './read-poll.ts';
import { repeatWrite } from './repeat-write.ts';
import type { TaskParts } from './task-parts.ts';
import { openSealedRequest, sealRequest } from './task-seal.ts';
import type { Idempotency } from './task-store.ts';
import { leaseMs, submissionMsMax } from './timings.ts';
import type { SealedVideoRequest, VideoTask } from './video-task.ts';
import type { TaskReport } from './video-upstreams.ts';
import { siblingId } from '../platform/ids.ts';

/** The fields of a task before its upstream is called. */
export type NewVideoTask = Pick<
  VideoTask,
  | 'callId'
  | 'userName'
  | 'keyId'
  | 'keyName'
  | 'form'
  | 'mode'
  | 'requestedModel'
  | 'upstream'
  | 'credentialId'
  | 'vendor'
  | 'upstreamModel'
  | 'protocol'
  | 'createdAtMs'
  | 'remixedFrom'
  | 'priceVersion'
  | 'pricingParameters'
  | 'heldUsage'
  | 'heldNanoUsd'
  | 'heldPots'
  | 'tags'
  | 'team'
  | 'payer'
> & { readonly request: SealedVideoRequest };

export type BeginResult = { readonly type: 'begun'; readonly task: VideoTask } | { readonly type: 'existing'; readonly task: VideoTask };

/** Handles a task from the intent until its upstream has accepted it. */
export type Submissions = {
  readonly begin: (intent: NewVideoTask, idempotency?: Idempotency) => Promise<BeginResult>;
  readonly accept: (task: VideoTask, upstreamTaskId: string, reading: TaskReport) => Promise<VideoTask>;
  readonly refuse: (task: VideoTask, refusal: Refusal) => Promise<void>;
  readonly leaveUnclear: (task: VideoTask) => Promise<VideoTask>;
  /** Waits for pending writes. */
  readonly settled: () => Promise<void>;
};

/**
 * @param closing aborts when the process ends; then failed writes are not repeated
 */
export function createSubmissions(parts: TaskParts, leases: LeaseKeeper, closing: AbortSignal): Submissions {
  const pending = new Set<Promise<void>>();
  const later = (work: Promise<void>): void => {
    const ended = work.finally(() => pending.delete(ended));
    pending.add(ended);
  };
  const settle = createSettling(parts, leases, closing, later);
  return {
    begin: (intent, idempotency) => begin(parts, leases, intent, { idempotency, withdraw: (task) => later(settle.withdraw(task)) }),
    accept: settle.accept,
    refuse: settle.refuse,
    leaveUnclear: async (task) => {
      leases.drop(task.id);
      try {
        await giveBack(parts, task);
      } catch (error) {
        // The lease expires anyway, only later.
        parts.logger.warn({ task: task.id, err: error }, 'releasing an unclear video submission failed');
      }
      return task;
    },
    settled: async () => void (await Promise.all(pending)),
  };
}

type BeginOptions = { readonly idempotency: Idempotency | undefined; readonly withdraw: (task: VideoTask) => void };

async function begin(parts: TaskParts, leases: LeaseKeeper, intent: NewVideoTask, options: BeginOptions): Promise<BeginResult> {
  const { store, owner, clock, newId, sealer } = parts;
  const { request, ...known } = intent;
  // The call can be found by this id, and has a receipt.
  const id = siblingId(known.callId, 'task') ?? newId('task');
  const sealed = sealRequest(sealer, id, request);
  const nowMs = clock.nowMs();
  const task: VideoTask = { ...known, id, phase: 'submitting', progress: 0, sealed, nextPollAtMs: nowMs, pollFailures: 0 };
  let outcome;
  try {
    outcome = await store.insertTask(task, { owner, untilMs: nowMs + leaseMs }, options.idempotency);
  } catch (error) {
    // The row may exist nevertheless. It must not count as a submission with a lost answer.
    options.withdraw(task);
    const internal = error instanceof Error ? error.message : 'the store refused the task';
    throw new GatewayError('tasks_unavailable', 'Video tasks cannot be recorded at the moment.', { internal, cause: error });
  }
  if (outcome.type === 'conflict') {
    throw describeConflict();
  }
  if (outcome.type === 'existing') return outcome;
  leases.keep(id, { forMs: submissionMsMax });
  return { type: 'begun', task };
}

/** The error for a key that was used with another request. */
export function describeConflict(): GatewayError {
  return new GatewayError('idempotency_conflict', 'This idempotency key was used before, with another request.');
}

/** Releases the lease, so that any process can resolve the task at once. */
async function giveBack({ store, owner, clock }: TaskParts, task: VideoTask): Promise<void> {
  const nowMs = clock.nowMs();
  await store.recordProgress({
    id: task.id,
    owner,
    nowMs,
    nextPollAtMs: nowMs,
    pollFailures: task.pollFailures,
    missingSinceMs: undefined,
    alert: undefined,
  });
}

type Settling = Pick<Submissions, 'accept' | 'refuse'> & { readonly withdraw: (task: VideoTask) => Promise<void> };

function createSettling(parts: TaskParts, leases: LeaseKeeper, closing: AbortSignal, later: (work: Promise<void>) => void): Settling {
  const { store, owner, logger, announce } = parts;
  const repeat = <Result>(id: string, write: () => Promise<Result>) => repeatWrite(parts, id, closing, write);
  const refuseUntilTaken = async (task: VideoTask, write: () => Promise<boolean>): Promise<void> => {
    try {
      await repeat(task.id, write);
    } catch (error) {
      logger.error({ task: task.id, err: error }, 'recording the refusal of a video failed');
    } finally {
      leases.drop(task.id);
    }
  };
  const refuse = async (task: VideoTask, refusal: Refusal): Promise<void> => {
    const entry = describeRefusal(parts, task, refusal);
    const write = () => store.refuseTask({ id: task.id, owner, entry });
    try {
      await write();
      leases.drop(task.id);
    } catch {
      // The client gets its answer anyway. The intent is deleted when the store works again.
      later(refuseUntilTaken(task, write));
    }
  };
  return {
    refuse,
    withdraw: (task) => refuse(task, { errorCode: 'tasks_unavailable', durationMs: 0 }),
    accept: async (task, upstreamTaskId, reading) => {
      const accepted = describeAccepted(parts, task, upstreamTaskId, reading);
      const record = async (): Promise<VideoTask> => {
        const isTaken = await store.acceptTask({ ...accepted.row, id: task.id, owner });
        if (!isTaken) return await afterLoss(parts, accepted.task);
        announce(task.id);
        return accepted.task;
      };
      try {
        const recorded = await record();
        leases.drop(task.id);
        return recorded;
      } catch {
        // The upstream makes the video, so the client gets the task. The row is written when the store works again, and
        // the lease is kept until then.
        later(keepTrying(parts, leases, accepted.task, () => repeat(task.id, record)));
        return accepted.task;
      }
    },
  };
}

async function keepTrying(parts: TaskParts, leases: LeaseKeeper, task: VideoTask, write: () => Promise<unknown>): Promise<void> {
  const { id, upstream, upstreamTaskId } = task;
  try {
    await write();
  } catch (error) {
    parts.logger.error({ task: id, upstream, upstreamTask: upstreamTaskId, err: error }, 'recording an accepted video failed');
  } finally {
    leases.drop(id);
  }
}

/**
 * The task after its acceptance by the upstream. Other states in the answer are read again by the first poll, which is
 * soon.
 */
export function describeAccepted(parts: TaskParts, task: VideoTask, upstreamTaskId: string, reading: TaskReport) {
  const { clock, random, sealer } = parts;
  const nowMs = clock.nowMs();
  const isOver = reading.status === 'completed' || reading.status === 'failed';
  const phase: 'queued' | 'in_progress' = reading.status === 'in_progress' ? 'in_progress' : 'queued';
  const told = reading.status === 'in_progress' ? (reading.progress ?? 0) : 0;
  const progress = Number.isFinite(told) ? Math.min(99, Math.max(0, Math.floor(told))) : 0;
  const pollAtMs = isOver ? nowMs : nextPollAtMs({ createdAtMs: nowMs }, { askedAtMs: nowMs, random: random() });
  const request = openSealedRequest(sealer, task);
  const sealed = request?.submission === undefined ? undefined : sealRequest(sealer, task.id, withoutSubmission(request));
  const row = { upstreamTaskId, phase, progress, nowMs, nextPollAtMs: pollAtMs, ...(sealed === undefined ? {} : { sealed }) };
  const { nowMs: lastPollAtMs, ...changed } = row;
  const accepted: VideoTask = { ...task, ...changed, lastPollAtMs };
  return { row, task: accepted };
}

function withoutSubmission({ submission: _submission, ...rest }: SealedVideoRequest): SealedVideoRequest {
  return rest;
}

/**
 * Handles an acceptance of a task that is no longer being submitted: it was recorded before, or another process ended
 * the task.
 */
export async function afterLoss({ store, logger }: Pick<TaskParts, 'store' | 'logger'>, accepted: VideoTask): Promise<VideoTask> {
  const { id, userName, upstream, upstreamTaskId } = accepted;
  const current = await store.findTask({ userName, id });
  if (current?.upstreamTaskId !== upstreamTaskId) {
    logger.error({ task: id, upstream, upstreamTask: upstreamTaskId, phase: current?.phase }, 'video accepted after its task had ended');
  }
  return current ?? accepted;
}
