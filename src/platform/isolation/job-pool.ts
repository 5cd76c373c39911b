import { waitFor } from '../wait-for.ts';
import { FairScheduler } from './fair-scheduler.ts';
import {
  type IsolatedJob,
  type JobAnswer,
  JobError,
  type JobInput,
  type JobModule,
  type JobOutput,
  type JobQuestion,
} from './isolated-job.ts';
import { type JobOrder, JobThread } from './job-thread.ts';
import { figuresOf } from './pool-figures.ts';

export type JobPoolOptions = {
  /** The name of its threads and metrics. */
  readonly name: string;
  readonly threadsMax: number;
  /** The most memory of a thread for objects, and the same again for buffers. */
  readonly memoryMegabytes: number;
  /** The most time for one job after its module is loaded. A call may set another limit. */
  readonly timeoutMs: number;
  /** The largest result of a job, which the main thread must read at once. */
  readonly outputBytesMax: number;
  /** The most jobs that wait for a thread, of all tenants and of each. */
  readonly waitingMax: number;
  readonly waitingPerTenantMax: number;
  /** Threads that one tenant may use at a time. Default: all but one, at least one. */
  readonly threadsPerTenantMax?: number;
  /** How long a thread is kept without work. */
  readonly idleMs?: number;
};

type JobOptions<Module extends JobModule> = {
  /** The owner of the job. Tenants take turns. */
  readonly tenant: string;
  readonly signal: AbortSignal;
  /** Buffers of the input that are transferred without a copy when the job begins. */
  readonly transferred?: readonly ArrayBuffer[];
  readonly timeoutMs?: number;
  /** Answers the job's questions, on the main thread. */
  readonly answer?: (question: JobQuestion<Module>) => JobAnswer<Module> | Promise<JobAnswer<Module>>;
};

/** Runs jobs on untrusted bytes in threads. */
export type JobPool = {
  /** Rejects with JobError, or with the signal's reason. After an abort the job and its thread have ended too. */
  readonly run: <Module extends JobModule>(
    job: IsolatedJob<Module>,
    input: JobInput<Module>,
    options: JobOptions<Module>,
  ) => Promise<JobOutput<Module>>;
  /** Ends all threads. Jobs that wait or run reject. */
  readonly close: () => Promise<void>;
};

const idleMsDefault = 15_000;
/** A thread is replaced after this number of jobs, because libraries may leak memory. */
const jobsPerThreadMax = 2000;
/** A thread in a system call does not terminate at once. After this time its slot is free for another thread. */
const endMsMax = 2000;

export function createJobPool(options: JobPoolOptions): JobPool {
  const { threadsMax, waitingMax, waitingPerTenantMax, idleMs = idleMsDefault } = options;
  const atOncePerTenantMax = options.threadsPerTenantMax ?? Math.max(1, threadsMax - 1);
  const scheduler = new FairScheduler({ atOnceMax: threadsMax, atOncePerTenantMax, waitingMax, waitingPerTenantMax });
  const threads = createThreads(options, idleMs);
  const figures = figuresOf(options.name);
  const closing = new AbortController();

  const count = (outcome: string): void => void figures.outcomes.set(outcome, (figures.outcomes.get(outcome) ?? 0) + 1);
  const runOnThread = async (order: JobOrder, signal: AbortSignal, leave: () => void): Promise<unknown> => {
    let thread: JobThread;
    try {
      signal.throwIfAborted();
      thread = threads.take();
    } catch (error) {
      // Without a thread, as when the system has none left, nothing else would give the slot back.
      leave();
      throw error;
    }
    const giveUp = (): void => void thread.end(signal.reason);
    signal.addEventListener('abort', giveUp, { once: true });
    figures.running += 1;
    try {
      return await thread.run(order);
    } finally {
      figures.running -= 1;
      signal.removeEventListener('abort', giveUp);
      if (!thread.isUsable) figures.terminated += 1;
      void threads.giveBack(thread).finally(leave);
    }
  };
  const waitForTurn = async (tenant: string, signal: AbortSignal): Promise<() => void> => {
    figures.waiting += 1;
    const leave = await scheduler.enter(tenant, signal).finally(() => (figures.waiting -= 1));
    if (leave === undefined) throw new JobError('too-busy', `too many jobs wait for the threads of ${options.name}`);
    return leave;
  };
  return {
    run: async <Module extends JobModule>(
      job: IsolatedJob<Module>,
      input: JobInput<Module>,
      { tenant, signal: asked, transferred = [], timeoutMs = options.timeoutMs, answer }: JobOptions<Module>,
    ): Promise<JobOutput<Module>> => {
      const { name, moduleUrl } = job;
      const { outputBytesMax } = options;
      const signal = AbortSignal.any([asked, closing.signal]);
      const order = { name, moduleUrl, input, transferred, timeoutMs, outputBytesMax, answer };
      try {
        const output = await runOnThread(order, signal, await waitForTurn(tenant, signal));
        count('done');
        return output as JobOutput<Module>;
      } catch (error) {
        count(error instanceof JobError ? error.failure : 'aborted');
        throw error;
      }
    },
    close: async () => {
      closing.abort(new JobError('closed', `the threads of ${options.name} are closed`));
      await threads.close();
    },
  };
}

/** Starts threads when there is work, and ends them after `idleMs` without work. */
function createThreads({ name, memoryMegabytes }: JobPoolOptions, idleMs: number) {
  const figures = figuresOf(name);
  const all = new Set<JobThread>();
  const idle: { readonly thread: JobThread; readonly timer: NodeJS.Timeout }[] = [];

  const end = async (thread: JobThread): Promise<void> => {
    if (all.delete(thread)) figures.threads -= 1;
    await thread.end(new JobError('closed', 'its thread was ended'));
  };
  const takeIdle = (): JobThread | undefined => {
    for (let last = idle.pop(); last !== undefined; last = idle.pop()) {
      clearTimeout(last.timer);
      if (last.thread.isUsable) return last.thread;
      void end(last.thread);
    }
    return undefined;
  };
  return {
    take: (): JobThread => {
      const thread = takeIdle() ?? new JobThread(name, memoryMegabytes);
      if (!all.has(thread)) figures.threads += 1;
      all.add(thread);
      return thread;
    },
    /** Resolves when the thread's slot is free. */
    giveBack: async (thread: JobThread): Promise<void> => {
      if (!thread.isUsable || thread.jobs >= jobsPerThreadMax) {
        await waitFor(end(thread), endMsMax).catch(() => {
          // It will end when its system call returns.
        });
        return;
      }
      const endIdle = (): void => {
        const place = idle.findIndex((entry) => entry.thread === thread);
        if (place >= 0) idle.splice(place, 1);
        void end(thread);
      };
      idle.push({ thread, timer: setTimeout(endIdle, idleMs).unref() });
    },
    close: async (): Promise<void> => {
      for (const { timer } of idle.splice(0)) clearTimeout(timer);
      await Promise.all([...all].map((thread) => end(thread)));
    },
  };
}
