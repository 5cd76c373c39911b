import type { VideoError } from '../inference/video.ts';
import type { TaskSettings } from './task-parts.ts';
import { describeFinished, type FinishedVideo } from './task-seal.ts';
import { missingForMs, missingGapMs, pollJitter, pollSteps, silentPollsMax } from './timings.ts';
import type { VideoTask } from './video-task.ts';
import type { TaskReport } from './video-upstreams.ts';

/** A failed task. `isBilled`: the vendor bills it nevertheless. */
export type TaskFailure = {
  readonly error: VideoError;
  readonly isBilled: boolean;
  readonly durationMs?: number;
  readonly raw?: unknown;
};

/** The record of a poll after which the task continues. */
export type PollNote = {
  readonly phase?: 'in_progress' | 'storing';
  readonly progress?: number;
  readonly nextPollAtMs: number;
  readonly pollFailures: number;
  readonly missingSinceMs: number | undefined;
  readonly alert: VideoTask['alert'];
};

/** The decision after a poll. `store`: the upstream has finished, and its file is copied next. */
export type PollDecision =
  | { readonly type: 'note'; readonly note: PollNote }
  | { readonly type: 'store'; readonly note: PollNote; readonly finished: FinishedVideo }
  | { readonly type: 'fail'; readonly failure: TaskFailure };

export type PollMoment = {
  /** When the poll began, and when the answer arrived. */
  readonly askedAtMs: number;
  readonly nowMs: number;
  /** From 0 to 1. */
  readonly random: number;
  readonly settings: Pick<TaskSettings, 'deadlineMs' | 'giveUpMs'>;
};

/** The highest progress of an unfinished task, shown while its file is copied. */
const progressMax = 99;
/** If progress is not reported, it is estimated by the age of the task: from `from` towards `to`, ever slower. */
const guessed = { from: 10, to: 95, halfMs: 40_000 };
const reasonCharactersMax = 200;

/**
 * Decides what a report means for a task: the state machine of the lifecycle. Pure. It never goes back, and an unclear
 * report does not change the phase.
 * @param task a task that is `queued` or `in_progress`
 */
export function readPoll(task: VideoTask, reading: TaskReport, moment: PollMoment): PollDecision {
  switch (reading.status) {
    case 'queued':
    case 'in_progress':
      return readUnfinished(task, reading, moment);
    case 'completed':
      return readCompleted(task, reading, moment);
    case 'failed': {
      const { error, isBilled, durationMs, raw } = reading;
      const failure = { error, isBilled, ...(durationMs === undefined ? {} : { durationMs }), ...(raw === undefined ? {} : { raw }) };
      return { type: 'fail', failure };
    }
    case 'missing':
      return readMissing(task, moment);
    case 'unclear':
      return readUnclear(task, reading, moment);
  }
}

/** The time of the next poll, counted from the start of the last one, so that slow answers do not add to it. */
export function nextPollAtMs(
  task: Pick<VideoTask, 'createdAtMs'>,
  { askedAtMs, random }: Pick<PollMoment, 'askedAtMs' | 'random'>,
): number {
  const ageMs = askedAtMs - task.createdAtMs;
  const everyMs = pollSteps.find(({ untilAgeMs }) => ageMs < untilAgeMs)?.everyMs ?? pollSteps[0]?.everyMs ?? 0;
  return askedAtMs + Math.round(everyMs * (1 - pollJitter * random));
}

/** An alert with its reason; an existing alert keeps its start time. */
export function raiseAlert(task: Pick<VideoTask, 'alert'>, reason: string | undefined, nowMs: number): VideoTask['alert'] {
  if (reason === undefined) return undefined;
  return { sinceMs: task.alert?.sinceMs ?? nowMs, reason: reason.slice(0, reasonCharactersMax) };
}

type Unfinished = Extract<TaskReport, { status: 'queued' | 'in_progress' }>;

function readUnfinished(task: VideoTask, reading: Unfinished, moment: PollMoment): PollDecision {
  const { nowMs, settings } = moment;
  const ageMs = nowMs - task.createdAtMs;
  if (ageMs >= settings.giveUpMs) return timedOut();
  const begins = task.phase === 'queued' && reading.status === 'in_progress';
  const note: PollNote = {
    ...(begins ? { phase: 'in_progress' } : {}),
    ...(begins || task.phase === 'in_progress' ? { progress: progressOf(task, reading.progress, ageMs) } : {}),
    nextPollAtMs: nextPollAtMs(task, moment),
    pollFailures: 0,
    missingSinceMs: undefined,
    alert: raiseAlert(task, lateness(task, moment), nowMs),
  };
  return { type: 'note', note };
}

/** The progress of a running task: reported by the upstream or estimated by age, never less than before. */
function progressOf(task: VideoTask, told: number | undefined, ageMs: number): number {
  const isTold = told !== undefined && Number.isFinite(told);
  const shown = isTold ? told : guessed.to - (guessed.to - guessed.from) * 2 ** (-Math.max(0, ageMs) / guessed.halfMs);
  return Math.max(task.progress, Math.min(progressMax, Math.max(0, Math.floor(shown))));
}

function readCompleted(task: VideoTask, reading: Extract<TaskReport, { status: 'completed' }>, moment: PollMoment): PollDecision {
  const note: PollNote = {
    phase: 'storing',
    progress: Math.max(task.progress, progressMax),
    // Due at once, because the copy is the next step.
    nextPollAtMs: moment.nowMs,
    pollFailures: 0,
    missingSinceMs: undefined,
    alert: undefined,
  };
  return { type: 'store', note, finished: describeFinished(reading, moment.nowMs) };
}

function readMissing(task: VideoTask, moment: PollMoment): PollDecision {
  const { nowMs } = moment;
  const isContinued = task.lastPollAtMs !== undefined && nowMs - task.lastPollAtMs <= missingGapMs;
  const missingSinceMs = isContinued ? (task.missingSinceMs ?? nowMs) : nowMs;
  if (nowMs - missingSinceMs >= missingForMs) {
    const error: VideoError = { code: 'task_lost', message: 'The provider no longer knows this video.' };
    return { type: 'fail', failure: { error, isBilled: false } };
  }
  return silent(task, moment, { missingSinceMs, reason: 'the upstream answers that it does not know the video', isOurs: false });
}

function readUnclear(task: VideoTask, reading: Extract<TaskReport, { status: 'unclear' }>, moment: PollMoment): PollDecision {
  const { reason, isOurs } = reading;
  const ageMs = moment.nowMs - task.createdAtMs;
  // A fault of the gateway does not end a task, nor does the first silence after a long pause of the whole process.
  if (!isOurs && ageMs >= moment.settings.giveUpMs && task.pollFailures >= silentPollsMax) return timedOut();
  return silent(task, moment, { missingSinceMs: undefined, reason, isOurs });
}

function silent(
  task: VideoTask,
  moment: PollMoment,
  silence: { readonly missingSinceMs: number | undefined; readonly reason: string; readonly isOurs: boolean },
): PollDecision {
  const pollFailures = task.pollFailures + 1;
  const isAlarming = silence.isOurs || pollFailures >= silentPollsMax || task.alert !== undefined;
  const reason = isAlarming ? `${silence.isOurs ? 'fault of the gateway' : 'no status known'}: ${silence.reason}` : lateness(task, moment);
  const note: PollNote = {
    nextPollAtMs: nextPollAtMs(task, moment),
    pollFailures,
    missingSinceMs: silence.missingSinceMs,
    alert: raiseAlert(task, reason, moment.nowMs),
  };
  return { type: 'note', note };
}

function lateness(task: VideoTask, { nowMs, settings }: PollMoment): string | undefined {
  return nowMs - task.createdAtMs >= settings.deadlineMs ? 'not finished within its time' : undefined;
}

function timedOut(): PollDecision {
  const error: VideoError = { code: 'upstream_timeout', message: 'The provider did not finish the video in time.' };
  return { type: 'fail', failure: { error, isBilled: false } };
}
