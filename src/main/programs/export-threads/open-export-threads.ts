import { Worker } from 'node:worker_threads';

import { type AskedCallExport, type CallExports, TooManyExportsError } from '../../../billing/calls/call-exports.ts';
import { StatisticsUnavailableError } from '../../../billing/statistics/statistics.ts';
import { threadEnvironment } from '../../../platform/thread-environment.ts';
import type { ReadDatabase } from '../../../store/reading/open-reading.ts';
import { type AnswerConnection, connectAnswers } from '../answer-threads/connect-answers.ts';
import { endThread } from '../answer-threads/open-answer-threads.ts';

/** Each has a connection and memory of its own. */
const threadsMax = 4;
/**
 * A page of calls is garbage when it is written. A heap without these limits grows by 60 to 100 MB before it is
 * collected. A smaller young part takes a third more processor time; an old part of 64 MB took none less, and 10 MB
 * more. What stays in it are names, at most some 15 MB.
 */
const resourceLimits = { maxYoungGenerationSizeMb: 6, maxOldGenerationSizeMb: 32 };

export type ExportThreads = CallExports & { readonly close: () => Promise<void> };

type ExportThread = { readonly connection: AnswerConnection<AskedCallExport>; readonly end: () => Promise<void> };

/** Makes each export in a thread of its own, which ends with it: its memory is free again. */
export function openExportThreads(database: ReadDatabase): ExportThreads {
  const threads = new Set<ExportThread>();
  let isClosed = false;

  function start(): ExportThread {
    if (isClosed) throw new StatisticsUnavailableError(new Error('The program is closing.'));
    if (threads.size >= threadsMax) throw new TooManyExportsError(threadsMax);
    const worker = new Worker(new URL('./export-thread.ts', import.meta.url), {
      workerData: database,
      // The environment may contain vendor keys, and flags of the process may not fit a thread.
      env: threadEnvironment(),
      execArgv: [],
      name: 'export',
      resourceLimits,
    });
    worker.unref();
    let ending: Promise<void> | undefined;
    const thread = { connection: connectAnswers<AskedCallExport>(worker), end: () => (ending ??= endThread({ worker })) };
    threads.add(thread);
    let reason: unknown;
    worker.on('error', (error) => (reason = error));
    worker.on('exit', (code) => {
      ending ??= Promise.resolve();
      threads.delete(thread);
      thread.connection.fail(new Error(`The thread of an export ended with code ${code}.`, { cause: reason }));
    });
    return thread;
  }

  return {
    open: async (asked, signal) => {
      signal.throwIfAborted();
      const { connection, end } = start();
      // Also of an export that nobody begins to read.
      signal.addEventListener('abort', () => void end(), { once: true });
      try {
        return endAfter(await connection.open(asked, signal), end);
      } catch (error) {
        await end();
        throw error;
      }
    },
    close: async () => {
      isClosed = true;
      await Promise.all([...threads].map(({ end }) => end()));
    },
  };
}

async function* endAfter(
  pieces: AsyncIterator<Uint8Array<ArrayBuffer>>,
  end: () => Promise<void>,
): AsyncGenerator<Uint8Array<ArrayBuffer>, undefined> {
  try {
    for (let next = await pieces.next(); next.done !== true; next = await pieces.next()) yield next.value;
    return undefined;
  } finally {
    await pieces.return?.();
    await end();
  }
}
