import { describeEnd } from './end-task.ts';
import { type PollNote, readPoll } from './read-poll.ts';
import type { TaskParts } from './task-parts.ts';
import { sealFinished } from './task-seal.ts';
import { askTimeoutMs } from './timings.ts';
import type { VideoTask } from './video-task.ts';
import type { TaskReport } from './video-upstreams.ts';
import { withinTime } from './wait.ts';

/**
 * Polls a task and records the result. Failures of the gateway itself do not change the task.
 * @throws errors of the store; then nothing was recorded, and the poll is repeated
 */
export async function pollTask(parts: TaskParts, task: VideoTask, signal: AbortSignal): Promise<void> {
  const { clock, random, settings, store, announce } = parts;
  const askedAtMs = clock.nowMs();
  const reading = await askUpstream(parts, task, signal);
  if (signal.aborted) return await giveBack(parts, task);
  const decision = readPoll(task, reading, { askedAtMs, nowMs: clock.nowMs(), random: random(), settings: settings() });
  switch (decision.type) {
    case 'fail': {
      const outcome = { type: 'failed', ...decision.failure } as const;
      if (await store.endTask(describeEnd(parts, task, outcome, clock.nowMs()))) parts.onEnded?.(task, outcome.error.code);
      return announce(task.id);
    }
    case 'store':
      return await recordNote(parts, task, decision.note, sealFinished(parts.sealer, task.id, decision.finished));
    case 'note':
      return await recordNote(parts, task, decision.note);
  }
}

/** Reads the status of a task from its upstream. A failure or timeout gives `unclear`. */
export async function askUpstream(parts: TaskParts, task: VideoTask, signal: AbortSignal): Promise<TaskReport> {
  const { wait, upstreams, logger } = parts;
  let isLate = false;
  try {
    return await withinTime(wait, { ms: askTimeoutMs, signal }, async (inner) => {
      inner.addEventListener('abort', () => (isLate = true), { once: true });
      return await upstreams.ask(task, inner);
    });
  } catch (error) {
    if (isLate) return { status: 'unclear', reason: 'no answer in time', isOurs: false };
    // Logged once; the alert that follows has the time.
    if (task.alert === undefined)
      logger.error({ task: task.id, upstream: task.upstream, err: error }, 'reading the status of a video failed');
    return { status: 'unclear', reason: 'the answer could not be read', isOurs: true };
  }
}

/** Releases the lease of a task without a change. */
export async function giveBack({ store, owner, clock }: TaskParts, task: VideoTask): Promise<void> {
  const nowMs = clock.nowMs();
  const { id, pollFailures, missingSinceMs, alert } = task;
  await store.recordProgress({ id, owner, nowMs, nextPollAtMs: nowMs, pollFailures, missingSinceMs, alert });
}

/** Records the result of a poll. Logs once when an alert begins, and once when it ends. */
export async function recordNote(parts: TaskParts, task: VideoTask, note: PollNote, result?: string): Promise<void> {
  const { store, owner, clock, logger, announce } = parts;
  const { id, upstream } = task;
  const isRecorded = await store.recordProgress({ id, owner, nowMs: clock.nowMs(), ...note, ...(result === undefined ? {} : { result }) });
  if (!isRecorded) return;
  if (task.alert === undefined && note.alert !== undefined)
    logger.error({ task: id, upstream, reason: note.alert.reason }, 'video alert raised');
  if (task.alert !== undefined && note.alert === undefined) logger.info({ task: id, upstream }, 'video alert cleared');
  if (note.phase !== undefined || note.progress !== undefined) announce(id);
}
