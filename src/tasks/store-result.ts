import type { VideoError } from '../inference/video.ts';
import { copyFile } from './copy-file.ts';
import { describeEnd, plausibleDurationMs, type TaskOutcome } from './end-task.ts';
import { MediaStorageError } from './media/media-storage.ts';
import { askUpstream, recordNote } from './poll-task.ts';
import { raiseAlert } from './read-poll.ts';
import { repeatWrite } from './repeat-write.ts';
import type { TaskParts } from './task-parts.ts';
import { describeFinished, type FinishedVideo, openFinished, sealFinished } from './task-seal.ts';
import { copyRetryMs, goneForMs, goneGapMs, measureTimeoutMs } from './timings.ts';
import type { StoredMedia, VideoTask } from './video-task.ts';
import { ResultError } from './video-upstreams.ts';
import { withinTime, WorkTimeoutError } from './wait.ts';

/**
 * Copies the file of a finished video and completes its task. Only files in our own storage are delivered and charged.
 * A failed copy is retried later. The file is abandoned if its server has denied it for long, or after a day of failed
 * attempts. Failures of our own storage never end a task.
 * @param task a `storing` task, whose lease is kept
 * @throws errors of the store, and the signal's reason
 */
export async function storeResult(parts: TaskParts, task: VideoTask, signal: AbortSignal): Promise<void> {
  const finished = openFinished(parts.sealer, task);
  if (finished === undefined) return await noteFailure(parts, task, { kind: 'ours', message: 'its result cannot be opened' });
  const key = parts.newId('media');
  let media;
  try {
    media = await copyFile(parts, task, { result: finished.result, key, signal });
  } catch (error) {
    signal.throwIfAborted();
    return await afterFailure(parts, task, finished, { error, signal });
  }
  const durationMs = plausibleDurationMs(finished.durationMs) ?? (await measure(parts, task, media, signal));
  await complete(parts, task, { type: 'completed', media, durationMs, raw: finished.raw }, signal);
}

/** Measures a stored video. If that fails, the requested length is charged. */
async function measure(parts: TaskParts, { userName }: VideoTask, media: StoredMedia, signal: AbortSignal): Promise<number | undefined> {
  const { measureMedia } = parts;
  if (measureMedia === undefined) return undefined;
  try {
    const limits = { ms: measureTimeoutMs, signal };
    return plausibleDurationMs(await withinTime(parts.wait, limits, (inner) => measureMedia(media, { tenant: userName, signal: inner })));
  } catch (error) {
    parts.logger.warn({ media: media.key, err: error }, 'measuring a video failed');
    return undefined;
  }
}

async function complete(
  parts: TaskParts,
  task: VideoTask,
  outcome: Extract<TaskOutcome, { type: 'completed' }>,
  signal: AbortSignal,
): Promise<void> {
  const end = describeEnd(parts, task, outcome, parts.clock.nowMs());
  const isEnded = await repeatWrite(parts, task.id, signal, () => parts.store.endTask(end));
  if (isEnded) parts.onEnded?.(task, 'completed');
  else await discardUnowned(parts, task, outcome.media.key);
  parts.announce(task.id);
}

/**
 * Another process ended the task. The file is deleted, unless an earlier write of ours ended it and its answer was
 * lost: then the task owns the file.
 */
async function discardUnowned({ store, storage, logger }: TaskParts, task: VideoTask, key: string): Promise<void> {
  try {
    const unowned = await store.unknownMedia([key]);
    await Promise.all(unowned.map((unknown) => storage.remove(unknown)));
  } catch (error) {
    logger.warn({ task: task.id, err: error }, 'deleting an unneeded video copy failed');
  }
}

/**
 * `gone`: the server denies the file. `source`: the transfer failed. `large`: the file is too large. `ours`: the
 * storage failed, or the gateway did.
 */
type CopyFailure = { readonly kind: 'gone' | 'source' | 'large' | 'ours'; readonly message: string };

function describeFailure(error: unknown): CopyFailure {
  if (error instanceof ResultError) return { kind: error.isGone ? 'gone' : 'source', message: error.message };
  if (error instanceof MediaStorageError) return { kind: error.problem === 'too-large' ? 'large' : 'ours', message: error.message };
  if (error instanceof WorkTimeoutError) return { kind: 'source', message: 'the copy took too long' };
  return { kind: 'ours', message: error instanceof Error ? error.name : 'the copy failed' };
}

type FailedCopy = { readonly error: unknown; readonly signal: AbortSignal };

async function afterFailure(parts: TaskParts, task: VideoTask, finished: FinishedVideo, { error, signal }: FailedCopy): Promise<void> {
  const { clock, store, logger } = parts;
  const failure = describeFailure(error);
  logger.warn({ task: task.id, upstream: task.upstream, kind: failure.kind, err: error }, 'copying the file of a video failed');
  if (!isGivenUp(task, finished, failure, { nowMs: clock.nowMs(), giveUpMs: parts.settings().giveUpMs })) {
    // Links expire, and the upstream issues new ones.
    const renewed = failure.kind === 'gone' ? await renewLink(parts, task, finished, signal) : undefined;
    return await noteFailure(parts, task, failure, renewed);
  }
  const lost: VideoError = { code: 'result_unavailable', message: 'The video was made, but the provider’s file could not be fetched.' };
  const end = describeEnd(parts, task, { type: 'failed', error: lost, isBilled: false }, clock.nowMs());
  if (!(await store.endTask(end))) return;
  logger.error({ task: task.id, upstream: task.upstream, reason: failure.message }, 'file of a finished video abandoned');
  parts.onEnded?.(task, lost.code);
  parts.announce(task.id);
}

function isGivenUp(
  task: VideoTask,
  finished: FinishedVideo,
  failure: CopyFailure,
  { nowMs, giveUpMs }: { readonly nowMs: number; readonly giveUpMs: number },
): boolean {
  if (failure.kind === 'ours') return false;
  if (nowMs - finished.finishedAtMs >= giveUpMs) return true;
  return failure.kind === 'gone' && nowMs - goneSince(task, nowMs) >= goneForMs;
}

/** Since when the file has been gone, without a long pause between attempts. */
function goneSince(task: VideoTask, nowMs: number): number {
  const isContinued = task.lastPollAtMs !== undefined && nowMs - task.lastPollAtMs <= goneGapMs;
  return isContinued ? (task.missingSinceMs ?? nowMs) : nowMs;
}

/** The result that the upstream reports now, if it has changed. */
async function renewLink(parts: TaskParts, task: VideoTask, finished: FinishedVideo, signal: AbortSignal): Promise<string | undefined> {
  const reading = await askUpstream(parts, task, signal);
  if (reading.status !== 'completed' || reading.result === finished.result) return undefined;
  return sealFinished(parts.sealer, task.id, describeFinished(reading, finished.finishedAtMs));
}

async function noteFailure(parts: TaskParts, task: VideoTask, failure: CopyFailure, renewed?: string): Promise<void> {
  const nowMs = parts.clock.nowMs();
  const pollFailures = task.pollFailures + 1;
  const pauseMs =
    failure.kind === 'large' ? copyRetryMs.tooLarge : Math.min(copyRetryMs.first * 2 ** Math.min(task.pollFailures, 20), copyRetryMs.max);
  const note = {
    nextPollAtMs: nowMs + (renewed === undefined ? Math.round(pauseMs * (1 - parts.random() / 10)) : 0),
    pollFailures,
    missingSinceMs: failure.kind === 'gone' ? goneSince(task, nowMs) : undefined,
    alert: raiseAlert(task, `the file could not be copied: ${failure.message}`, nowMs),
  };
  await recordNote(parts, task, note, renewed);
}
