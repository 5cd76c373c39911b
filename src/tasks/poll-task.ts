import { describeEnd } from './end-task.ts';
import { type PollNote, readPoll } from './read-poll.ts';
import type { TaskParts } from './task-parts.ts';
import { sealFinished } from './task-seal.ts';
import { askTimeoutMs } from './timings.ts';
import type { VideoTask } from './video-task.ts';
import type { TaskReading } from './video-upstreams.ts';
import { withinTime } from './wait.ts';

/**
 * Asks how a task stands and writes down what it means. What goes wrong on our own side says nothing about the task.
 * @throws what the store throws; then nothing was written, and the task is asked after again
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

/** What an upstream says of a task. Whatever fails on the way, or takes too long, told nothing. */
export async function askUpstream(parts: TaskParts, task: VideoTask, signal: AbortSignal): Promise<TaskReading> {
  const { wait, upstreams, logger } = parts;
  let isLate = false;
  try {
    return await withinTime(wait, { ms: askTimeoutMs, signal }, async (inner) => {
      inner.addEventListener('abort', () => (isLate = true), { once: true });
      return await upstreams.ask(task, inner);
    });
  } catch (error) {
    if (isLate) return { status: 'unclear', reason: 'no answer in time', isOurs: false };
    // Once: the alert that follows says for how long it has been so.
    if (task.alert === undefined)
      logger.error({ task: task.id, upstream: task.upstream, err: error }, 'what an upstream says of a video could not be read');
    return { status: 'unclear', reason: 'the answer could not be read', isOurs: true };
  }
}

/** Leaves a task as it is to whoever looks next. */
export async function giveBack({ store, owner, clock }: TaskParts, task: VideoTask): Promise<void> {
  const nowMs = clock.nowMs();
  const { id, pollFailures, missingSinceMs, alert } = task;
  await store.recordProgress({ id, owner, nowMs, nextPollAtMs: nowMs, pollFailures, missingSinceMs, alert });
}

/** Writes down what was found; tells the operator once when a task needs attention, and once when it no longer does. */
export async function recordNote(parts: TaskParts, task: VideoTask, note: PollNote, result?: string): Promise<void> {
  const { store, owner, clock, logger, announce } = parts;
  const { id, upstream } = task;
  const isRecorded = await store.recordProgress({ id, owner, nowMs: clock.nowMs(), ...note, ...(result === undefined ? {} : { result }) });
  if (!isRecorded) return;
  if (task.alert === undefined && note.alert !== undefined)
    logger.error({ task: id, upstream, reason: note.alert.reason }, 'a video needs attention');
  if (task.alert !== undefined && note.alert === undefined) logger.info({ task: id, upstream }, 'a video no longer needs attention');
  if (note.phase !== undefined || note.progress !== undefined) announce(id);
}
