import { parentPort, workerData } from 'node:worker_threads';

import { type CallExports, createCallExports } from '../../../billing/calls/call-exports.ts';
import { StatisticsUnavailableError } from '../../../billing/statistics/statistics.ts';
import { openCallReader } from '../../../store/reading/open-call-reader.ts';
import type { ReadDatabase } from '../../../store/reading/open-reading.ts';
import { StoreError } from '../../../store/store-error.ts';
import { serveAnswers } from '../answer-threads/serve-answers.ts';

/** A thread that makes one export of calls, so that it takes neither time nor memory from the thread of the calls. */
if (parentPort === null) throw new Error('Exports are made only in a worker thread.');

const reader = openCallReader(workerData as ReadDatabase);
const exports: CallExports = createCallExports({
  scanCalls: async (scan) => {
    try {
      return await reader.scanCalls(scan);
    } catch (error) {
      // Its class would be lost between threads, and with it that a later attempt may succeed.
      throw error instanceof StoreError && error.kind !== 'constraint' ? new StatisticsUnavailableError(error) : error;
    }
  },
});
serveAnswers(parentPort, exports, reader.close);
