import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';

import { threadEnvironment } from '../../../platform/thread-environment.ts';
import { StatisticsUnavailableError } from '../../../billing/statistics/statistics.ts';
import type { Answers } from '../../../monitor/answers/answers.ts';
import type { AnswersOptions } from '../../../monitor/answers/create-answers.ts';
import type { Logger } from '../../../platform/log.ts';
import type { PostgresOptions } from '../../../store/postgres/connection-options.ts';
import type { SqliteWorkerData } from '../../../store/sqlite/open-store-database.ts';
import { type AnswerConnection, connectAnswers } from './connect-answers.ts';
import type { AnswerReply, AnswerRequest } from './protocol.ts';

/** The start data of a thread. */
export type AnswerThreadData = Pick<AnswersOptions, 'timeZone' | 'totalsRow' | 'detailCallsMax'> & {
  readonly database: Omit<SqliteWorkerData, 'readOnly'> | PostgresOptions;
};

/** More threads would wait for the same disk. */
const threadsMax = 4;
/** Pause before a dead thread is restarted, to avoid a restart loop. */
const restartPauseMs = 1000;
/**
 * Rows become garbage quickly. With a nursery of 4 MB collections take a tenth to a fifth more processor time; a larger
 * one costs memory.
 */
const resourceLimits = { maxYoungGenerationSizeMb: 16, maxOldGenerationSizeMb: 192 };

/** The time for a closing thread to release its connections. */
const closeMsMax = 2000;

type Thread = { readonly worker: Worker; readonly connection: AnswerConnection };

export type AnswerThreads = Answers & { readonly close: () => Promise<void> };

/**
 * Starts answer threads, one for each processor. Resolves when they are ready. A query goes to the thread with the
 * fewest running answers.
 */
export async function openAnswerThreads(data: AnswerThreadData, logger: Logger): Promise<AnswerThreads> {
  const threads = new Set<Thread>();
  let isClosed = false;

  async function start(): Promise<void> {
    // The environment may contain vendor keys, and flags of the process may not fit a thread.
    const worker = new Worker(new URL('./answer-thread.ts', import.meta.url), {
      workerData: data,
      env: threadEnvironment(),
      execArgv: [],
      name: 'answers',
      resourceLimits,
    });
    const thread = { worker, connection: connectAnswers(worker) };
    const ready = Promise.withResolvers<void>();
    let reason: Error | undefined;
    worker.on('message', ({ type }: AnswerReply) => {
      if (type === 'ready') ready.resolve();
    });
    worker.on('error', (error) => (reason = error instanceof Error ? error : new Error('A thread of answers died.', { cause: error })));
    worker.on('exit', (code) => {
      const error = reason ?? new Error(`A thread of answers ended with code ${code}.`);
      const wasServing = threads.delete(thread);
      thread.connection.fail(error);
      ready.reject(error);
      if (wasServing && !isClosed) replace(error);
    });
    await ready.promise;
    threads.add(thread);
    worker.unref();
  }

  function replace(error: Error): void {
    logger.error({ err: error }, 'answer thread died');
    setTimeout(() => {
      if (!isClosed) start().catch(replace);
    }, restartPauseMs).unref();
  }

  await Promise.all(Array.from({ length: Math.min(threadsMax, availableParallelism()) }, start));
  return {
    timeZone: data.timeZone,
    open: async (question, signal) => {
      const [least] = [...threads].toSorted((one, other) => one.connection.count() - other.connection.count());
      if (least === undefined) throw new StatisticsUnavailableError(new Error('No thread that makes answers is there.'));
      return await least.connection.open(question, signal);
    },
    close: async () => {
      isClosed = true;
      await Promise.all([...threads].map(endThread));
    },
  };
}

async function endThread({ worker }: Thread): Promise<void> {
  const exited = once(worker, 'exit');
  worker.ref();
  worker.postMessage({ type: 'close' } satisfies AnswerRequest);
  const timer = setTimeout(() => void worker.terminate(), closeMsMax);
  await exited;
  clearTimeout(timer);
}
