import type { AnswerReader, AnswerSnapshot, StatisticsQuery, StatisticsRow } from '../../billing/statistics/statistics-store.ts';
import { createBilledCallOperations } from '../operations/billed-call-operations.ts';
import type { Database } from '../operations/database.ts';
import { decodeRows } from '../operations/packed-rows.ts';
import { countCalls, hasTooManyRecords } from '../operations/statistics-counts.ts';
import { StatisticsPages } from '../operations/statistics-pages.ts';
import { StoreError } from '../store-error.ts';

/** A database as it was at one moment. */
export type Snapshot = { readonly database: Database; readonly end: () => Promise<void> };

/** Where snapshots come from. Rejects with StoreError. */
export type SnapshotSource = { readonly open: () => Promise<Snapshot>; readonly close: () => Promise<void> };

/** Until then everything is read from one snapshot. A server keeps for it what others delete, and the embedded database cannot shorten its log. */
export const snapshotMsMax = 10_000;

/** @param snapshotMs for how long one snapshot is held at most */
export function createAnswerReader(source: SnapshotSource, snapshotMs = snapshotMsMax): AnswerReader {
  return { openReading: () => openReading(source, snapshotMs) };
}

function openReading(source: SnapshotSource, snapshotMs: number): AnswerSnapshot {
  const moments = createMoments(source, snapshotMs);
  return {
    hasTooManyRecords: (query) => moments.use((database) => hasTooManyRecords(database, query)),
    countCalls: (query) => moments.use((database) => countCalls(database, query)),
    readRows: (query) => readRows(moments, query),
    listBilledCalls: (page) => moments.use((database) => createBilledCallOperations(database).listBilledCalls(page)),
    listPriceVersions: (span) => moments.use((database) => createBilledCallOperations(database).listPriceVersions(span)),
    close: moments.close,
  };
}

async function* readRows(moments: Moments, query: StatisticsQuery): AsyncGenerator<readonly StatisticsRow[]> {
  const pages = new StatisticsPages(query);
  let moment = 0;
  for (;;) {
    const rows = await moments.use(async (database, number) => {
      if (number !== moment) pages.forgetPlan();
      moment = number;
      return await pages.next(database);
    });
    if (rows === undefined) return;
    yield decodeRows(rows);
  }
}

type Moments = {
  /** @param work is given a snapshot, and its number: another number is another moment */
  readonly use: <Result>(work: (database: Database, moment: number) => Promise<Result>) => Promise<Result>;
  readonly close: () => Promise<void>;
};

/** One snapshot after the other, each given back at its time, whether or not anybody is reading just then. */
function createMoments(source: SnapshotSource, snapshotMs: number): Moments {
  let current: Snapshot | undefined;
  let moment = 0;
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
    if (isClosed) throw new StoreError('unavailable', 'The reading was closed.');
    const begun = await source.open();
    current = begun;
    isOver = false;
    moment += 1;
    timer = setTimeout(() => {
      isOver = true;
      // A snapshot that cannot be given back is lost with its connection, and the next one is opened anew.
      if (!using) end().catch(() => undefined);
    }, snapshotMs);
    timer.unref();
    return begun;
  }

  return {
    use: async (work) => {
      if (using) throw new StoreError('internal', 'A reading was used twice at once.');
      using = true;
      try {
        const { database } = current ?? (await begin());
        return await work(database, moment);
      } catch (error) {
        // Nobody knows what is left of it.
        isOver = true;
        throw error;
      } finally {
        using = false;
        // What was read is right, whatever comes of giving the snapshot back.
        if (isOver || isClosed) await end().catch(() => undefined);
      }
    },
    close: async () => {
      isClosed = true;
      if (!using) await end();
    },
  };
}
