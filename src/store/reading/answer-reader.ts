import type { AnswerReader, AnswerSource, StatisticsQuery, StatisticsRow } from '../../billing/statistics/statistics-store.ts';
import { createArchiveOperations } from '../operations/archive-operations.ts';
import { createBilledCallOperations } from '../operations/billed-call-operations.ts';
import type { Database } from '../operations/database.ts';
import { decodeRows } from '../operations/packed-rows.ts';
import { countCalls, hasTooManyRecords } from '../operations/statistics-counts.ts';
import { StatisticsPages } from '../operations/statistics-pages.ts';
import { StoreError } from '../store-error.ts';

/** A database in its state at one moment. */
export type Snapshot = { readonly database: Database; readonly end: () => Promise<void> };

/** Opens snapshots. Rejects with StoreError. */
export type SnapshotSource = { readonly open: () => Promise<Snapshot>; readonly close: () => Promise<void> };

/**
 * The longest time of one snapshot. While it is open, a server keeps deleted rows for it, and SQLite cannot shorten its
 * log.
 */
export const snapshotMsMax = 10_000;

/** @param snapshotMs the longest time of one snapshot */
export function createAnswerReader(source: SnapshotSource, snapshotMs = snapshotMsMax): AnswerReader {
  return { openSource: () => openSource(source, snapshotMs) };
}

function openSource(source: SnapshotSource, snapshotMs: number): AnswerSource {
  const snapshots = createSnapshots(source, snapshotMs);
  return {
    hasTooManyRecords: (query) => snapshots.use((database) => hasTooManyRecords(database, query)),
    countCalls: (query) => snapshots.use((database) => countCalls(database, query)),
    readRows: (query) => readRows(snapshots, query),
    listBilledCalls: (page) => snapshots.use((database) => createBilledCallOperations(database).listBilledCalls(page)),
    listPriceVersions: (span) => snapshots.use((database) => createBilledCallOperations(database).listPriceVersions(span)),
    archivedUntilMs: () => snapshots.use((database) => createArchiveOperations(database).archivedUntilMs()),
    close: snapshots.close,
  };
}

async function* readRows(snapshots: Snapshots, query: StatisticsQuery): AsyncGenerator<readonly StatisticsRow[]> {
  const pages = new StatisticsPages(query);
  let snapshotNumber = 0;
  for (;;) {
    const rows = await snapshots.use(async (database, number) => {
      if (number !== snapshotNumber) pages.forgetPlan();
      snapshotNumber = number;
      return await pages.next(database);
    });
    if (rows === undefined) return;
    yield decodeRows(rows);
  }
}

type Snapshots = {
  /** @param work receives a snapshot and its number: another number is another snapshot */
  readonly use: <Result>(work: (database: Database, snapshotNumber: number) => Promise<Result>) => Promise<Result>;
  readonly close: () => Promise<void>;
};

/** Opens one snapshot after the other. Each is closed at its time, whether or not it is being read. */
function createSnapshots(source: SnapshotSource, snapshotMs: number): Snapshots {
  let current: Snapshot | undefined;
  let snapshotNumber = 0;
  let timer: NodeJS.Timeout | undefined;
  let using = false;
  let isOver = false;
  let isClosed = false;

  async function end(): Promise<void> {
    const ended = current;
    current = undefined;
    clearTimeout(timer);
    await ended?.end();
  }

  async function begin(): Promise<Snapshot> {
    if (isClosed) throw new StoreError('unavailable', 'The source of the answer was closed.');
    const snapshot = await source.open();
    current = snapshot;
    isOver = false;
    snapshotNumber += 1;
    timer = setTimeout(() => {
      isOver = true;
      // A snapshot that cannot be closed is lost with its connection, and the next one is opened on another.
      if (!using) end().catch(() => undefined);
    }, snapshotMs);
    timer.unref();
    return snapshot;
  }

  return {
    use: async (work) => {
      if (using) throw new StoreError('internal', 'The source of an answer was used twice at once.');
      using = true;
      try {
        const { database } = current ?? (await begin());
        return await work(database, snapshotNumber);
      } catch (error) {
        // The state of the snapshot is unknown.
        isOver = true;
        throw error;
      } finally {
        using = false;
        // The rows that were read are right, even if closing the snapshot fails.
        if (isOver || isClosed) await end().catch(() => undefined);
      }
    },
    close: async () => {
      isClosed = true;
      if (!using) await end();
    },
  };
}
