import type { VideoError } from '../inference/video.ts';
import { describeEnd } from './end-task.ts';
import type { LeaseKeeper } from './keep-leases.ts';
import { nextPollAtMs, raiseAlert } from './read-poll.ts';
import { afterLoss, describeAccepted } from './submit-task.ts';
import type { TaskParts } from './task-parts.ts';
import { openSealedRequest } from './task-seal.ts';
import { leaseRenewalMs, silentPollsMax, submitAgainForMs, submitAgainTimeoutMs } from './timings.ts';
import type { VideoTask } from './video-task.ts';
import type { VideoUpstreams } from './video-upstreams.ts';
import { withinTime } from './wait.ts';

type Again = Awaited<ReturnType<VideoUpstreams['submitAgain']>> | 'fault';

/**
 * Resolves a submission whose answer was lost or whose process died, so that it is unknown whether the upstream
 * accepted it. If the protocol of the upstream is idempotent, it is sent again under the same key. Otherwise a second
 * video would have to be paid, so the task ends free of charge, and a log message names it.
 */
export async function recoverSubmission(parts: TaskParts, leases: LeaseKeeper, task: VideoTask, signal: AbortSignal): Promise<void> {
  const { clock, logger } = parts;
  if (clock.nowMs() - task.createdAtMs >= Math.min(submitAgainForMs, parts.settings().giveUpMs)) return await endLost(parts, task);
  leases.keep(task.id, { forMs: submitAgainTimeoutMs + leaseRenewalMs });
  try {
    const again = await submitAgain(parts, task, signal);
    if (signal.aborted) return await note(parts, task, { pollFailures: task.pollFailures, alert: task.alert, nextPollAtMs: clock.nowMs() });
    if (again === undefined) return await endLost(parts, task);
    if (again === 'refused') {
      await end(parts, task, { code: 'upstream_rejected', message: 'The provider refused the request.' });
      return;
    }
    if (typeof again === 'object') return await acceptAgain(parts, task, again);
    const pollFailures = task.pollFailures + 1;
    const reason =
      again === 'fault' ? 'fault of the gateway: the submission could not be sent again' : 'the submission could not be resolved';
    const isAlarming = again === 'fault' || pollFailures >= silentPollsMax || task.alert !== undefined;
    const alert = raiseAlert(task, isAlarming ? reason : undefined, clock.nowMs());
    if (task.alert === undefined && alert !== undefined)
      logger.error({ task: task.id, upstream: task.upstream, reason }, 'video alert raised');
    await note(parts, task, {
      pollFailures,
      alert,
      nextPollAtMs: nextPollAtMs(task, { askedAtMs: clock.nowMs(), random: parts.random() }),
    });
  } finally {
    leases.drop(task.id);
  }
}

async function submitAgain(parts: TaskParts, task: VideoTask, signal: AbortSignal): Promise<Again> {
  const request = openSealedRequest(parts.sealer, task);
  if (request === undefined) return 'fault';
  try {
    const limits = { ms: submitAgainTimeoutMs, signal };
    return await withinTime(parts.wait, limits, (inner) => parts.upstreams.submitAgain(task, request, inner));
  } catch (error) {
    if (!signal.aborted) parts.logger.warn({ task: task.id, err: error }, 'resending a video submission failed');
    return 'fault';
  }
}

async function acceptAgain(parts: TaskParts, task: VideoTask, again: Extract<Again, { readonly upstreamTaskId: string }>): Promise<void> {
  const accepted = describeAccepted(parts, task, again.upstreamTaskId, again.reading);
  const isTaken = await parts.store.acceptTask({ ...accepted.row, id: task.id, owner: parts.owner });
  if (!isTaken) await afterLoss(parts, accepted.task);
  parts.announce(task.id);
}

type Note = Pick<VideoTask, 'pollFailures' | 'nextPollAtMs'> & { readonly alert: VideoTask['alert'] };

async function note({ store, owner, clock }: TaskParts, task: VideoTask, noted: Note): Promise<void> {
  await store.recordProgress({ id: task.id, owner, nowMs: clock.nowMs(), missingSinceMs: undefined, ...noted });
}

async function endLost(parts: TaskParts, task: VideoTask): Promise<void> {
  const { id, upstream, createdAtMs } = task;
  const isEnded = await end(parts, task, {
    code: 'submission_lost',
    message: 'The gateway lost the provider’s answer to this request. Nothing was charged.',
  });
  if (!isEnded) return;
  parts.logger.error(
    { task: id, callId: task.callId, upstream, createdAt: new Date(createdAtMs).toISOString() },
    'answer to a video submission lost',
  );
}

async function end(parts: TaskParts, task: VideoTask, error: VideoError): Promise<boolean> {
  const isEnded = await parts.store.endTask(describeEnd(parts, task, { type: 'failed', error, isBilled: false }, parts.clock.nowMs()));
  if (isEnded) parts.onEnded?.(task, error.code);
  parts.announce(task.id);
  return isEnded;
}
