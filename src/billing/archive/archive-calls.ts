import type { Clock } from '../../platform/clock.ts';
import { groupRows, writeArchive } from './archive-format.ts';
import {
  addRows,
  ArchiveError,
  type ArchivedRow,
  type ArchiveFiles,
  type ArchiveStore,
  type CallArchive,
  differingSums,
  noSums,
} from './call-archive.ts';
import { createRowDigest, openArchive, readBack } from './open-archive.ts';

export type ArchiveParts = {
  readonly store: ArchiveStore;
  readonly files: ArchiveFiles;
  readonly clock: Pick<Clock, 'nowMs'>;
  /** Whole months (UTC) before the present one whose rows stay in the store, at least 1. */
  readonly months: number;
  /** Identifies this process. */
  readonly owner: string;
  readonly signal: AbortSignal;
  /** Called with the number of rows that were written or dropped so far. */
  readonly report?: (rows: number) => void;
};

/** The archives that were completed; `busy`: another process archives. */
export type ArchiveRun = { readonly state: 'done'; readonly archives: readonly CallArchive[] } | { readonly state: 'busy' };

/** Rows that are read or dropped in one transaction. */
const stepRows = 500;
/** Longer than any step, so that the lease never ends under a process that works. */
const leaseMs = 5 * 60_000;

/** The first moment of a month (UTC) that lies some months before or after that of a time. */
export function monthStart(ms: number, offset = 0): number {
  const date = new Date(ms);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + offset, 1);
}

/**
 * Writes the rows of each month that is over and not kept as a file, reads the file back and compares it with the
 * store, and only then drops the rows. A file becomes known to the store after this comparison. So a crash leaves the
 * rows, or a verified file that the next run goes on with.
 * @throws ArchiveError, the store's error, errors of the files, and the reason of the signal
 */
export async function archiveCalls(parts: ArchiveParts): Promise<ArchiveRun> {
  const { store, owner, signal, clock, months } = parts;
  if (!Number.isInteger(months) || months < 1) throw new RangeError(`At least 1 month must be kept; got ${months}.`);
  const hold = async (): Promise<boolean> => {
    signal.throwIfAborted();
    const nowMs = clock.nowMs();
    return await store.claimArchiving({ owner, nowMs, untilMs: nowMs + leaseMs });
  };
  if (!(await hold())) return { state: 'busy' };
  const run = new Run(parts, async () => {
    if (!(await hold())) throw new ArchiveError('another process began to archive');
  });
  try {
    return { state: 'done', archives: await run.all(monthStart(clock.nowMs(), -months)) };
  } finally {
    await store.releaseArchiving(owner);
  }
}

class Run {
  readonly #parts: ArchiveParts;
  readonly #renew: () => Promise<void>;
  #rows = 0;

  constructor(parts: ArchiveParts, renew: () => Promise<void>) {
    this.#parts = parts;
    this.#renew = renew;
  }

  async all(beforeMs: number): Promise<readonly CallArchive[]> {
    const { store } = this.#parts;
    const done: CallArchive[] = [];
    const known = await store.listArchives();
    for (const archive of known.filter(({ state }) => state === 'verified')) done.push(await this.#drop(archive));
    for (;;) {
      const oldestMs = await store.oldestArchivable(beforeMs);
      if (oldestMs === undefined) return done;
      const span = { fromMs: monthStart(oldestMs), untilMs: monthStart(oldestMs, 1) };
      const parts = [...known, ...done].filter(({ fromMs }) => fromMs === span.fromMs);
      const number = new Set(parts.map(({ id }) => id)).size + 1;
      const month = new Date(span.fromMs).toISOString().slice(0, 7);
      done.push(await this.#drop(await this.#write({ id: `calls-${month}${number === 1 ? '' : `-${number}`}`, ...span })));
    }
  }

  async #write(about: Pick<CallArchive, 'id' | 'fromMs' | 'untilMs'>): Promise<CallArchive> {
    const { store, files, owner, signal, clock } = this.#parts;
    const written = createRowDigest();
    let sums = noSums;
    const count = (rows: readonly ArchivedRow[]): void => {
      sums = addRows(sums, rows);
      for (const row of rows) written.add(row);
    };
    const file = await files.write(about.id, writeArchive(this.#readGroups(about, count)), signal);
    await this.#renew();
    const found = await readBack(files, { id: about.id, bytes: file.bytes }, signal, this.#renew);
    const problems = [
      ...differingSums(found.sums, sums),
      ...(found.digest === written.finish() ? [] : ['other values in its rows']),
      ...(found.sha256 === file.sha256 ? [] : ['other bytes than were written']),
    ];
    if (problems.length > 0) throw new ArchiveError(`${files.placeOf(about.id)} was read back with ${problems.join(', ')}`);
    const archive = { ...about, ...file, state: 'verified' as const, sums, dropped: noSums, verifiedAtMs: clock.nowMs() };
    await store.keepArchive(archive, owner);
    return archive;
  }

  async *#readGroups(
    { fromMs, untilMs }: Pick<CallArchive, 'fromMs' | 'untilMs'>,
    count: (rows: readonly ArchivedRow[]) => void,
  ): AsyncGenerator<readonly ArchivedRow[]> {
    const { store } = this.#parts;
    let after: ArchivedRow | undefined;
    for (let group: ArchivedRow[] = []; ;) {
      await this.#renew();
      const page = { startMs: fromMs, endMs: untilMs, limit: stepRows, ...(after !== undefined && { after }) };
      const rows = await store.listArchivable(page);
      after = rows.at(-1);
      group.push(...rows);
      this.#note(rows.length);
      if (group.length >= groupRows || (rows.length < stepRows && group.length > 0)) {
        count(group);
        yield group;
        group = [];
      }
      if (rows.length < stepRows) return;
    }
  }

  /** Drops the rows of a file that was read back. Rows that were dropped before a crash are skipped. */
  async #drop(archive: CallArchive): Promise<CallArchive> {
    const { store, files, owner, signal, clock } = this.#parts;
    const reader = await openArchive(files, archive, signal);
    for await (const rows of reader.groups()) {
      for (let at = 0; at < rows.length; at += stepRows) {
        await this.#renew();
        this.#note(await store.dropArchived({ id: archive.id, owner, rows: rows.slice(at, at + stepRows) }));
      }
    }
    const droppedAtMs = clock.nowMs();
    await store.endArchive({ id: archive.id, owner, atMs: droppedAtMs });
    return { ...archive, state: 'dropped', dropped: archive.sums, droppedAtMs };
  }

  #note(rows: number): void {
    this.#rows += rows;
    this.#parts.report?.(this.#rows);
  }
}

/** The problems of an archive's file, in words; empty if it is as it was verified. */
export async function verifyArchive(files: ArchiveFiles, archive: CallArchive, signal: AbortSignal): Promise<readonly string[]> {
  try {
    const found = await readBack(files, archive, signal);
    return [...(found.sha256 === archive.sha256 ? [] : ['its bytes have changed']), ...differingSums(found.sums, archive.sums)];
  } catch (error) {
    if (error instanceof ArchiveError) return [error.message];
    throw error;
  }
}
