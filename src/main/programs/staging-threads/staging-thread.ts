import { setTimeout as wait } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

import { withArchivedPrices } from '../../../billing/archive/with-archives.ts';
import { compareCalls } from '../../../billing/staging/compare-calls.ts';
import { lowerThreadPriority } from '../../../platform/lower-thread-priority.ts';
import { openStagingReader } from '../../../store/reading/open-staging-reader.ts';
import { openArchiveFilesLater } from '../../assembly/open-archive-files.ts';
import type { StagingReport, StagingThreadData } from './compare-in-thread.ts';

/** A page that took longer waited for something else than a core. */
const restMsMax = 50;

/**
 * A thread that prices booked calls again, so that it takes no time from the thread of the calls. Any message stops it.
 */
const port = parentPort;
if (port === null) throw new Error('Calls are priced again only in a worker thread.');

lowerThreadPriority();
const { calls, database, retention, dataDirectory } = workerData as StagingThreadData;
const tell = (report: StagingReport): void => port.postMessage(report);
const stopping = new AbortController();
port.once('message', () => stopping.abort());
const reader = openStagingReader(database);
try {
  const files = openArchiveFilesLater({ config: retention, environment: { dataDirectory }, store: reader });
  const archived = withArchivedPrices(reader, files, new AbortController().signal);
  const { findRecordedPrices, pageRows } = reader;
  // A page takes less than a millisecond, which is the shortest wait: the thread has a third to a half of a core.
  const parts = {
    rest: (ms: number) => wait(Math.min(ms, restMsMax)),
    pageRows,
    stop: stopping.signal,
    report: (rows: number) => tell({ rows }),
  };
  tell({ result: await compareCalls(calls, { store: { ...archived, findRecordedPrices }, ...parts }) });
} finally {
  await reader.close();
  port.close();
}
