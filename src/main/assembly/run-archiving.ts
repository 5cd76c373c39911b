import { randomUUID } from 'node:crypto';

import { archiveCalls, verifyArchive } from '../../billing/archive/archive-calls.ts';
import { withArchives } from '../../billing/archive/with-archives.ts';
import { ArchiveError, type ArchiveFiles } from '../../billing/archive/call-archive.ts';
import { OperationFailure, type OperationHandler } from '../../control/operations/operation-runner.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/log.ts';
import type { Store } from '../../store/store.ts';
import type { BooksConfig } from '../config/books-schema.ts';
import { readConfigNaming } from '../config/find-config.ts';
import type { Environment } from '../environment.ts';
import { openArchiveFilesLater } from './open-archive-files.ts';

type Parts = { readonly environment: Environment; readonly store: Store; readonly clock: Clock };

/** The part of the configuration about archives; undefined if all calls are kept. */
export const readRetention = (environment: Environment): BooksConfig['retention'] =>
  readConfigNaming('books', environment)?.books?.retention;

/** Opens the files of the archives, by the configuration at that time. */
export function archiveFilesOf({ environment, store }: Pick<Parts, 'environment' | 'store'>): () => Promise<ArchiveFiles> {
  return openArchiveFilesLater({ config: readRetention(environment), environment, store });
}

/** The store with the rows of archives in what is read by id or by time. */
export function withArchivedCalls({ environment, store }: Pick<Parts, 'environment' | 'store'>): Store {
  // A file is open only while it is read, so nothing has to be closed.
  return { ...store, ...withArchives(store, archiveFilesOf({ environment, store }), new AbortController().signal) };
}

/** Archives now, as a long operation. */
export function createArchiving({ environment, store, clock }: Parts): OperationHandler {
  return (_input, { signal, report }) =>
    namingFailures(async () => {
      const retention = readRetention(environment);
      if (retention === undefined) throw new OperationFailure('conflict', 'The configuration has no books.retention any more.');
      const files = await archiveFilesOf({ environment, store })();
      const { months } = retention;
      const run = await archiveCalls({
        store,
        files,
        clock,
        months,
        signal,
        owner: `operation ${randomUUID()}`,
        report: (done) => report({ done, unit: 'rows' }),
      });
      if (run.state === 'busy') throw new OperationFailure('conflict', 'Another process archives calls at the moment.');
      return { archives: run.archives.map(({ id, sums }) => ({ id, rows: sums.rows })) };
    });
}

/** Reads an archive again, as a long operation. */
export function createArchiveVerifying({ environment, store }: Parts): OperationHandler {
  return (input, { signal }) =>
    namingFailures(async () => {
      const { archive_id: id } = input as { readonly archive_id: string };
      const archive = (await store.listArchives()).find((each) => each.id === id);
      if (archive === undefined) throw new OperationFailure('not_found', 'There is no such archive any more.');
      const problems = await verifyArchive(await archiveFilesOf({ environment, store })(), archive, signal);
      return { archive_id: id, is_intact: problems.length === 0, problems: [...problems] };
    });
}

async function namingFailures<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof ArchiveError) throw new OperationFailure('archive_damaged', cause.message, { cause });
    throw cause;
  }
}

const everyMs = 24 * 3_600_000;
/** After the start, when the process has other work to do. */
const firstMs = 60_000;

/** Archives once a day, if the configuration has `books.retention`, until the returned function is called. */
export function archiveDaily({ environment, store, clock, logger }: Parts & { readonly logger: Logger }): () => Promise<void> {
  const closing = new AbortController();
  let running: Promise<void> = Promise.resolve();
  const files = archiveFilesOf({ environment, store });
  const run = async (): Promise<void> => {
    const retention = readRetention(environment);
    if (retention === undefined) return;
    const owner = `console ${randomUUID()}`;
    try {
      const { months } = retention;
      const done = await archiveCalls({ store, files: await files(), clock, months, owner, signal: closing.signal });
      if (done.state === 'busy') return;
      for (const { id, sums } of done.archives) logger.info({ archive: id, rows: sums.rows }, 'calls of a month archived');
    } catch (error) {
      if (!closing.signal.aborted) logger.error({ err: error }, 'archiving calls failed');
    }
  };
  const start = (): void => {
    running = running.then(run);
  };
  const first = setTimeout(start, firstMs).unref();
  const timer = setInterval(start, everyMs).unref();
  return async () => {
    clearTimeout(first);
    clearInterval(timer);
    closing.abort(new Error('the console is stopping'));
    await running;
  };
}
