import { Worker } from 'node:worker_threads';

import type { ComparedCalls } from '../../../billing/staging/compare-calls.ts';
import type { ComparisonResult } from '../../../billing/staging/price-comparison.ts';
import { threadEnvironment } from '../../../platform/thread-environment.ts';
import type { ReadDatabase } from '../../../store/reading/open-reading.ts';
import type { BooksConfig } from '../../config/books-schema.ts';

/** The start data of a thread. */
export type StagingThreadData = {
  readonly calls: ComparedCalls;
  readonly database: ReadDatabase;
  /** Where archived calls are. */
  readonly retention: BooksConfig['retention'];
  readonly dataDirectory: string;
};

/** A message of a thread: how many rows it has priced, or the end. */
export type StagingReport = { readonly rows: number } | { readonly result: ComparisonResult };

type Options = {
  /** Ends it early, with the sums of what was priced until then. */
  readonly stop?: AbortSignal;
  /** Receives the number of rows that were priced, often. */
  readonly report?: (rows: number) => void;
};

/** Rows become garbage quickly, and the parts of a comparison need some megabytes. */
const resourceLimits = { maxYoungGenerationSizeMb: 6, maxOldGenerationSizeMb: 192 };
/** The time to end: after the page that is read when it must stop, and with its connection after its result. */
const endMsMax = 5000;

/** Prices booked calls again in a thread of its own. Rejects if the thread fails. */
export async function compareInThread(data: StagingThreadData, { stop, report }: Options = {}): Promise<ComparisonResult> {
  const worker = new Worker(new URL('./staging-thread.ts', import.meta.url), {
    workerData: data,
    // The environment may contain vendor keys, and flags of the process may not fit a thread.
    env: threadEnvironment(),
    execArgv: [],
    name: 'staging',
    resourceLimits,
  });
  let timer: NodeJS.Timeout | undefined;
  const expectEnd = (): void => {
    timer ??= setTimeout(() => void worker.terminate(), endMsMax);
  };
  const end = (): void => {
    worker.postMessage('stop');
    expectEnd();
  };
  if (stop?.aborted === true) end();
  stop?.addEventListener('abort', end, { once: true });
  const ending = Promise.withResolvers<ComparisonResult>();
  let result: ComparisonResult | undefined;
  worker.on('message', (told: StagingReport) => {
    if ('rows' in told) return report?.(told.rows);
    result = told.result;
    expectEnd();
  });
  worker.on('error', ending.reject);
  worker.on('exit', (code) => {
    if (result === undefined) ending.reject(new Error(`The thread of a staging ended with code ${code}.`));
    else ending.resolve(result);
  });
  try {
    return await ending.promise;
  } finally {
    stop?.removeEventListener('abort', end);
    clearTimeout(timer);
  }
}
