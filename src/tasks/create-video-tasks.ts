import { GatewayError } from '../inference/gateway-error.ts';
import { createCopyQueue, type CopyQueue } from './copy-queue.ts';
import type { Refusal } from './end-task.ts';
import { createLeaseKeeper, type LeaseKeeper } from './keep-leases.ts';
import { pollTask } from './poll-task.ts';
import { createPoller, type Poller } from './poll-tasks.ts';
import { recoverSubmission } from './recover-submission.ts';
import { type BeginResult, createSubmissions, describeConflict, type NewVideoTask } from './submit-task.ts';
import { sweepExpired, sweepOrphans, sweepTasks } from './sweep-media.ts';
import type { TaskParts, VideoTasksOptions } from './task-parts.ts';
import { openSealedRequest } from './task-seal.ts';
import type { Idempotency, TaskPage } from './task-store.ts';
import { closeMs, expirySweepMs, gaugeMs, idleTickMs, orphanSweepMs, taskSweepMs } from './timings.ts';
import type { SealedVideoRequest, VideoTask } from './video-task.ts';
import type { TaskReport } from './video-upstreams.ts';
import { waitByTimer } from './wait.ts';
import { createTaskChanges, shareReads, watchTask } from './watch-task.ts';

/** Figures of the tasks: of the whole store (a few seconds old), and of this process. */
type TaskGauges = {
  readonly open: number;
  readonly alerted: number;
  /** The delay of the task whose poll is overdue the longest. */
  readonly latenessMs: number;
  readonly polling: number;
  readonly copying: number;
  readonly copiesWaiting: number;
};

/** Durable video jobs. */
export type VideoTasks = {
  /**
   * Records the intent to make a video, before its upstream is called. Then the task must be accepted, refused or left
   * unclear.
   * @throws GatewayError `tasks_unavailable` if the store fails, `idempotency_conflict`
   */
  readonly begin: (intent: NewVideoTask, idempotency?: Idempotency) => Promise<BeginResult>;
  /**
   * The task of this key; undefined if there is none.
   * @throws GatewayError `idempotency_conflict` if its request was another
   */
  readonly findKeyed: (idempotency: Idempotency) => Promise<VideoTask | undefined>;
  /** The upstream has accepted it. From now on it is polled until it ends. */
  readonly accept: (task: VideoTask, upstreamTaskId: string, reading: TaskReport) => Promise<VideoTask>;
  /** The upstream has refused it. The intent is deleted, and nothing is charged. */
  readonly refuse: (task: VideoTask, refusal: Refusal) => Promise<void>;
  /** It is unknown whether the upstream accepted it. The task stays, and its state is resolved later. */
  readonly leaveUnclear: (task: VideoTask) => Promise<VideoTask>;
  /** @throws GatewayError `tasks_unavailable`, as the next two do */
  readonly find: (userName: string, id: string) => Promise<VideoTask | undefined>;
  readonly list: (page: TaskPage) => Promise<readonly VideoTask[]>;
  /** Deletes a task that has ended, and its file. */
  readonly delete: (userName: string, id: string) => Promise<'deleted' | 'unknown' | 'open'>;
  /** The request of the client. @throws GatewayError `internal_error` if it was sealed under another key */
  readonly openRequest: (task: VideoTask) => SealedVideoRequest;
  /** Follows a task: see watchTask. */
  readonly watch: (userName: string, id: string, signal: AbortSignal) => AsyncIterable<VideoTask>;
  /** Begins to process open tasks. Call it once, before the first `begin`. */
  readonly start: () => void;
  /** Aborts running work. Tasks continue in other processes, or when this one starts again. */
  readonly close: () => Promise<void>;
  readonly gauges: () => TaskGauges;
};

/** The lifecycle of video tasks on a store, some upstreams and a storage. */
export function createVideoTasks(options: VideoTasksOptions): VideoTasks {
  const changes = createTaskChanges();
  const reads = shareReads(options.store.findTask);
  const announce = (id: string): void => {
    reads.renew(id);
    changes.announce(id);
  };
  const parts: TaskParts = { ...options, wait: options.wait ?? waitByTimer, owner: options.newId('owner'), announce };
  const closing = new AbortController();
  const leases = createLeaseKeeper(parts);
  const submissions = createSubmissions(parts, leases, closing.signal);
  const work = createWork(parts, leases, closing.signal);
  const upkeep = createUpkeep(parts, closing.signal);
  let running: Promise<unknown> | undefined;
  return {
    ...submissions,
    find: (userName, id) => guard(parts.store.findTask({ userName, id })),
    findKeyed: async (idempotency) => {
      const found = await guard(parts.store.findKeyedTask({ ...idempotency, nowMs: parts.clock.nowMs() }));
      if (found?.type === 'conflict') throw describeConflict();
      return found?.task;
    },
    list: (page) => guard(parts.store.listTasks(page)),
    delete: (userName, id) => deleteTask(parts, { userName, id }),
    openRequest: (task) => {
      const request = openSealedRequest(parts.sealer, task);
      if (request !== undefined) return request;
      throw new GatewayError('internal_error', 'This video cannot be read.', {
        internal: `the request of ${task.id} was sealed under another key`,
      });
    },
    watch: (userName, id, signal) =>
      watchTask({ find: reads.find, changes, wait: parts.wait, logger: parts.logger }, { userName, id }, signal),
    start: () => {
      running ??= Promise.all([work.poller.run(closing.signal), leases.run(closing.signal), upkeep.run()]);
    },
    close: async () => {
      closing.abort(new DOMException('The gateway is shutting down.', 'AbortError'));
      const ended = Promise.all([running, submissions.settled()]).then(() => work.copies.idle());
      const waited = new AbortController();
      await Promise.race([ended, parts.wait(closeMs, waited.signal)]);
      waited.abort();
    },
    gauges: () => {
      const { running: copying, waiting: copiesWaiting } = work.copies.size();
      return { ...upkeep.counts(), polling: work.poller.polling(), copying, copiesWaiting };
    },
  };
}

async function guard<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    const internal = error instanceof Error ? error.message : 'the store failed';
    throw new GatewayError('tasks_unavailable', 'Video tasks cannot be read at the moment.', { internal, cause: error });
  }
}

async function deleteTask(
  parts: TaskParts,
  task: { readonly userName: string; readonly id: string },
): Promise<'deleted' | 'unknown' | 'open'> {
  const outcome = await guard(parts.store.deleteTask(task));
  if (outcome.type !== 'deleted') return outcome.type;
  parts.announce(task.id);
  if (outcome.mediaKey !== undefined) {
    await parts.storage.remove(outcome.mediaKey).catch((error: unknown) => {
      parts.logger.warn({ task: task.id, err: error }, 'deleting the file of a deleted video failed');
    });
  }
  return 'deleted';
}

type Work = { readonly poller: Poller; readonly copies: CopyQueue };

/** The work for a due task, by its phase. */
function createWork(parts: TaskParts, leases: LeaseKeeper, closing: AbortSignal): Work {
  const copies = createCopyQueue(parts, leases, { closing, onRoom: () => poller.wake() });
  const work = async (task: VideoTask): Promise<void> => {
    // This process already works on the task, and its lease expired during an outage of the store. The new claim has
    // renewed it.
    if (leases.has(task.id)) return;
    if (task.phase === 'submitting') return await recoverSubmission(parts, leases, task, closing);
    if (task.phase === 'storing') return await copies.offer(task);
    await pollTask(parts, task, closing);
  };
  const poller = createPoller(parts, { work, storingMax: copies.room });
  return { poller, copies };
}

type Upkeep = { readonly run: () => Promise<void>; readonly counts: () => Pick<TaskGauges, 'open' | 'alerted' | 'latenessMs'> };

/** Periodic work: sweeps and figures. */
function createUpkeep(parts: TaskParts, signal: AbortSignal): Upkeep {
  const { store, clock, logger, wait } = parts;
  let counts = { open: 0, alerted: 0, latenessMs: 0 };
  const chores = [
    { everyMs: gaugeMs, job: 'count open videos', work: async () => void (counts = await store.countTasks(clock.nowMs())) },
    { everyMs: expirySweepMs, job: 'sweep expired files', work: async () => void (await sweepExpired(parts, signal)) },
    { everyMs: taskSweepMs, job: 'sweep ended videos', work: async () => void (await sweepTasks(parts, signal)) },
    { everyMs: orphanSweepMs, job: 'sweep abandoned files', work: async () => void (await sweepOrphans(parts, signal)) },
  ];
  const repeat = async ({ everyMs, job, work }: (typeof chores)[number]): Promise<void> => {
    let pauseMs = idleTickMs;
    while (!signal.aborted) {
      // The first run is soon, so that processes that restart often do it too.
      await wait(pauseMs, signal);
      pauseMs = everyMs;
      if (signal.aborted) return;
      await work().catch((error: unknown) => logger.warn({ job, err: error }, 'video maintenance failed'));
    }
  };
  return { run: async () => void (await Promise.all(chores.map(repeat))), counts: () => counts };
}
