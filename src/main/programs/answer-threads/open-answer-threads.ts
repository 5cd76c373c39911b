import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';

import { threadEnvironment } from '../../../platform/thread-environment.ts';
import { StatisticsUnavailableError } from '../../../billing/statistics/statistics.ts';
import type { AnswerQuery, Answers } from '../../../monitor/answers/answers.ts';
import type { AnswersOptions } from '../../../monitor/answers/create-answers.ts';
import type { Logger } from '../../../platform/log.ts';
import type { PostgresOptions } from '../../../store/postgres/connection-options.ts';
import type { SqliteWorkerData } from '../../../store/sqlite/open-store-database.ts';
import { type AnswerConnection, connectAnswers } from './connect-answers.ts';
import type { AnswerRequest } from './protocol.ts';

/** The start data of a thread. */
export type AnswerThreadData = Pick<AnswersOptions, 'timeZone' | 'totalsRow' | 'detailCallsMax'> & {
  readonly database: Omit<SqliteWorkerData, 'readOnly'> | PostgresOptions;
};

/** More threads would wait for the same disk. */
const threadsMax = 4;
/** Pause after the death of a thread before another one starts, to avoid a restart loop. */
const restartPauseMs = 1000;
/**
 * Rows become garbage quickly. With a nursery of 4 MB collections take a tenth to a fifth more processor time; a larger
 * one costs memory.
 */
const resourceLimits = { maxYoungGenerationSizeMb: 16, maxOldGenerationSizeMb: 192 };

/** The time for a closing thread to release its connections. */
const closeMsMax = 2000;

type Thread = { readonly worker: Worker; readonly connection: AnswerConnection<AnswerQuery> };

export type AnswerThreads = Answers & { readonly close: () => Promise<void> };

/**
 * Opens answer threads: a query that finds every thread busy starts another one, up to one for each processor, because
 * each costs 15 MB, and most monitors are asked seldom. Otherwise it goes to the thread with the fewest running
 * answers.
 */
export function openAnswerThreads(data: AnswerThreadData, logger: Logger): AnswerThreads {
  const most = Math.min(threadsMax, availableParallelism());
  const threads = new Set<Thread>();
  let isClosed = false;
  let isPaused = false;

  function start(): Thread {
    // The environment may contain vendor keys, and flags of the process may not fit a thread.
    const worker = new Worker(new URL('./answer-thread.ts', import.meta.url), {
      workerData: data,
      env: threadEnvironment(),
      execArgv: [],
      name: 'answers',
      resourceLimits,
    });
    worker.unref();
    const thread = { worker, connection: connectAnswers<AnswerQuery>(worker) };
    threads.add(thread);
    let reason: Error | undefined;
    worker.on('error', (error) => (reason = error instanceof Error ? error : new Error('A thread of answers died.', { cause: error })));
    worker.on('exit', (code) => {
      const error = reason ?? new Error(`A thread of answers ended with code ${code}.`);
      threads.delete(thread);
      thread.connection.fail(error);
      if (!isClosed) pause(error);
    });
    return thread;
  }

  function pause(error: Error): void {
    logger.error({ err: error }, 'answer thread died');
    isPaused = true;
    setTimeout(() => (isPaused = false), restartPauseMs).unref();
  }

  function choose(): Thread | undefined {
    const [least] = [...threads].toSorted((one, other) => one.connection.count() - other.connection.count());
    const isFree = least?.connection.count() === 0;
    return isFree || isClosed || isPaused || threads.size >= most ? least : start();
  }

  return {
    timeZone: data.timeZone,
    open: async (question, signal) => {
      const thread = choose();
      if (thread === undefined) throw new StatisticsUnavailableError(new Error('No thread that makes answers is there.'));
      return await thread.connection.open(question, signal);
    },
    close: async () => {
      isClosed = true;
      await Promise.all([...threads].map(endThread));
    },
  };
}

/** Ends a thread that serves answers, after it has released its connections. */
export async function endThread({ worker }: { readonly worker: Worker }): Promise<void> {
  const exited = once(worker, 'exit');
  worker.ref();
  worker.postMessage({ type: 'close' } satisfies AnswerRequest<AnswerQuery>);
  const timer = setTimeout(() => void worker.terminate(), closeMsMax);
  await exited;
  clearTimeout(timer);
}
