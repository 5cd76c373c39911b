import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/log.ts';
import { type EmbedTexts, embeddingBatchMax } from './embed-texts.ts';
import type { Extraction, Extractor } from './extraction/create-extractor.ts';
import { type FileLibrary, FileProblem } from './file-library.ts';
import type { Chunk, IndexingError } from './file-objects.ts';
import type { ChunkStore, FilesStore, IndexingTask } from './file-store.ts';

type IndexerSettings = {
  /** How long a lease of a file lasts without renewal. */
  readonly leaseMs: number;
  /** How often the store is checked for work of other processes. */
  readonly pollMs: number;
  /** How long a file waits after a failed attempt. */
  readonly postponeMs: number;
  /** How many attempts a file has. */
  readonly attemptsMax: number;
  /** The maximum of text of one file, in characters. */
  readonly charactersMax: number;
  /** How many files are indexed at a time, for all users and for each user. */
  readonly atOnceMax: number;
  readonly atOncePerUserMax: number;
};

const defaultIndexerSettings: IndexerSettings = {
  leaseMs: 15_000,
  pollMs: 1000,
  postponeMs: 10_000,
  attemptsMax: 3,
  charactersMax: 20_000_000,
  atOnceMax: 8,
  atOncePerUserMax: 2,
};

export type IndexerOptions = {
  readonly store: ChunkStore & FilesStore;
  readonly library: FileLibrary;
  readonly extractor: Extractor;
  /** Undefined if no embeddings model is configured: then the search uses words only. */
  readonly embed: () => EmbedTexts | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly newId: (prefix: string) => string;
  readonly settings?: IndexerSettings;
};

export type Indexer = {
  /** Checks for work at once. */
  readonly wake: () => void;
  readonly close: () => Promise<void>;
};

/** A round ends after this number of users, so that the query for the next file stays short. */
const roundUsersMax = 64;

/**
 * Schedules users fairly: each round begins one file of each user, and no user exceeds the limit of files in progress.
 */
class Rounds {
  readonly #atOncePerUserMax: number;
  readonly #atOnce = new Map<string, number>();
  readonly #served = new Set<string>();

  constructor(atOncePerUserMax: number) {
    this.#atOncePerUserMax = atOncePerUserMax;
  }

  /** Lists users that are skipped now. `isNew`: a new round begins. */
  passedOver(isNew: boolean): readonly string[] {
    if (isNew || this.#served.size >= roundUsersMax) this.#served.clear();
    const full = [...this.#atOnce].flatMap(([userName, count]) => (count >= this.#atOncePerUserMax ? [userName] : []));
    return [...new Set([...full, ...this.#served])];
  }

  begin(userName: string): void {
    this.#served.add(userName);
    this.#atOnce.set(userName, (this.#atOnce.get(userName) ?? 0) + 1);
  }

  end(userName: string): void {
    const left = (this.#atOnce.get(userName) ?? 1) - 1;
    if (left === 0) this.#atOnce.delete(userName);
    else this.#atOnce.set(userName, left);
  }
}

/**
 * Indexes files in the background, a few at a time, and alternates between users. However many or slow the files of one
 * user are, another user's file begins at once. The work is in the store: a worker leases a file, and any worker takes
 * it when the lease expires, so that nothing is lost with a process.
 */
export function createIndexer(options: IndexerOptions): Indexer {
  const { store, clock, logger } = options;
  const settings = options.settings ?? defaultIndexerSettings;
  const owner = options.newId('indexer');
  const stop = new AbortController();
  const rounds = new Rounds(settings.atOncePerUserMax);
  const underWay = new Set<Promise<void>>();
  let isAwake = false;
  let claiming: Promise<void> | undefined;

  const claimNext = async (): Promise<IndexingTask | undefined> => {
    const { leaseMs, attemptsMax } = settings;
    const claim = (isNew: boolean): Promise<IndexingTask | undefined> =>
      store.claimIndexing({ owner, nowMs: clock.nowMs(), leaseMs, attemptsMax, exceptUsers: rounds.passedOver(isNew) });
    return (await claim(false)) ?? (await claim(true));
  };
  const begin = (task: IndexingTask): void => {
    rounds.begin(task.userName);
    const work = indexFile({ ...options, settings, signal: stop.signal }, task)
      .catch((error: unknown) => logger.warn({ err: error, fileId: task.fileId }, 'result of indexing a file was not stored'))
      .finally(() => {
        rounds.end(task.userName);
        underWay.delete(work);
        wake();
      });
    underWay.add(work);
  };
  const claimAll = async (): Promise<void> => {
    while (isAwake && !stop.signal.aborted) {
      isAwake = false;
      while (underWay.size < settings.atOnceMax && !stop.signal.aborted) {
        const task = await claimNext();
        if (task === undefined) break;
        begin(task);
      }
    }
  };
  const wake = (): void => {
    isAwake = true;
    if (stop.signal.aborted) return;
    claiming ??= claimAll()
      .catch((error: unknown) => logger.warn({ err: error }, 'checking for files to index failed'))
      .finally(() => {
        claiming = undefined;
        // It was woken after its last check.
        if (isAwake) wake();
      });
  };
  const poll = setInterval(wake, settings.pollMs).unref();
  wake();
  return {
    wake,
    close: async () => {
      stop.abort(new Error('The indexer is closed.'));
      clearInterval(poll);
      await claiming;
      await Promise.all(underWay);
    },
  };
}

type Work = IndexerOptions & { readonly settings: IndexerSettings; readonly signal: AbortSignal };

async function indexFile(work: Work, task: IndexingTask): Promise<void> {
  const { store, clock, logger, settings } = work;
  const renew = (): void => {
    store.renewIndexing({ ...task, leaseUntilMs: clock.nowMs() + settings.leaseMs }).catch((error: unknown) => {
      logger.warn({ err: error }, 'lease of a file was not renewed');
    });
  };
  const heartbeat = setInterval(renew, settings.leaseMs / 3).unref();
  try {
    const error = await fillIndex(work, task);
    await store.finishIndexing({
      ...task,
      status: error === undefined ? 'completed' : 'failed',
      ...(error === undefined ? {} : { error }),
    });
  } catch (error) {
    logger.warn({ err: error, fileId: task.fileId, storeId: task.storeId }, 'indexing a file was postponed');
    await store.postponeIndexing({ ...task, untilMs: clock.nowMs() + (work.signal.aborted ? 0 : settings.postponeMs) });
  } finally {
    clearInterval(heartbeat);
  }
}

/**
 * Reads, splits and stores one file. Resolves with the file's problem, if it has one, and rejects if the attempt failed
 * for another reason.
 */
async function fillIndex(work: Work, task: IndexingTask): Promise<IndexingError | undefined> {
  const { store, library, extractor, settings } = work;
  const file = await store.findFile({ userName: task.userName, fileId: task.fileId, nowMs: work.clock.nowMs() });
  if (file === undefined) return { code: 'invalid_file', message: 'The file has expired or was deleted.' };
  const { userName: tenant, chunking } = task;
  const { filename } = file;
  const read = (): Promise<Uint8Array<ArrayBuffer>> => library.readWhole(file);
  let reply: Extraction;
  try {
    reply = await extractor.extract({ tenant, read, filename, chunking, charactersMax: settings.charactersMax }, work.signal);
  } catch (error) {
    if (!(error instanceof FileProblem)) throw error;
    work.logger.error({ err: error, fileId: task.fileId }, 'stored file could not be read');
    return { code: 'server_error', message: 'The stored file cannot be read.' };
  }
  if ('error' in reply) return reply.error;
  const embed = work.embed();
  for (let at = 0; at < reply.chunks.length; at += embeddingBatchMax) {
    const part = reply.chunks.slice(at, at + embeddingBatchMax);
    const chunks = embed === undefined ? part : await addVectors(part, embed, work, task);
    // It was cancelled or deleted, so there is nothing to finish.
    if (!(await store.addChunks({ ...task, firstIndex: at, chunks }))) return undefined;
  }
  return undefined;
}

async function addVectors(
  part: readonly Chunk[],
  embed: EmbedTexts,
  { signal }: Work,
  { userName }: IndexingTask,
): Promise<readonly Chunk[]> {
  const vectors = await embed(
    part.map(({ text }) => text),
    { userName },
    signal,
  );
  return part.map((chunk, index) => {
    const vector = vectors[index];
    return vector === undefined ? chunk : { ...chunk, vector };
  });
}
