import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/log.ts';
import type { EmbedTexts } from './embed-texts.ts';
import { createExtractor } from './extraction/create-extractor.ts';
import { createIndexer } from './create-indexer.ts';
import { createFileLibrary, type FileLibrary } from './file-library.ts';
import type { FileSearchStore } from './file-store.ts';
import { createPieceSealer } from './piece-sealer.ts';
import type { RankTexts } from './rank-texts.ts';
import { createSearchFiles, type SearchFiles } from './search-files.ts';

/** The storage limits of users. */
export type FileLimits = {
  readonly fileBytesMax: number;
  /** The maximum for all files of a user together. */
  readonly userBytesMax: number;
};

const mebibyte = 1024 * 1024;
export const defaultFileLimits: FileLimits = { fileBytesMax: 64 * mebibyte, userBytesMax: 10 * 1024 * mebibyte };

/** A user's file as the input of a request. */
type ResolvedFile = { readonly filename: string; readonly mediaType: string; readonly bytes: Uint8Array<ArrayBuffer> };

/** Files, vector stores, and the search in them. */
export type FileService = {
  readonly store: FileSearchStore;
  readonly library: FileLibrary;
  readonly search: SearchFiles;
  readonly limits: () => FileLimits;
  /** Files were added to a store. */
  readonly filesAdded: () => void;
  /** Finds a user's file with its content. Undefined for any other id. */
  readonly resolveFile: (userName: string, fileId: string) => Promise<ResolvedFile | undefined>;
  readonly close: () => Promise<void>;
};

const sweepMs = 5000;
/** How many rows of each kind one sweep deletes. A sweep delays other writes. */
const sweepRowsMax = 20;
/** A longer upload was abandoned by a process that died, or by a client that never finishes. */
const uploadMsMax = 3_600_000;

/** Opens the file service with a key, and starts indexing of waiting files. */
export function openFileService(options: {
  readonly store: FileSearchStore;
  readonly key: Uint8Array;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly newId: (prefix: string) => string;
  readonly limits: () => FileLimits;
  readonly embed: () => EmbedTexts | undefined;
  readonly rank: () => RankTexts | undefined;
}): FileService {
  const { store, key, clock, logger, newId, limits, embed, rank } = options;
  const userBytesMax = (): number => limits().userBytesMax;
  const library = createFileLibrary({ store, sealer: createPieceSealer(key), clock, newId, userBytesMax });
  const extractor = createExtractor();
  const indexer = createIndexer({ store, library, extractor, embed, clock, logger, newId });
  const sweeper = createSweeper(store, clock, logger);
  return {
    store,
    library,
    search: createSearchFiles({ store, embed, rank, logger }),
    limits,
    filesAdded: indexer.wake,
    resolveFile: async (userName, fileId) => {
      const file = await store.findFile({ userName, fileId, nowMs: clock.nowMs() });
      if (file === undefined) return undefined;
      return { filename: file.filename, mediaType: file.mediaType, bytes: await library.readWhole(file) };
    },
    close: async () => {
      await sweeper.close();
      await indexer.close();
      await extractor.close();
    },
  };
}

/** Deletes in the background what has expired, and the remains of deletions. */
function createSweeper(store: FileSearchStore, clock: Clock, logger: Logger): { readonly close: () => Promise<void> } {
  let isClosed = false;
  let sweeping: Promise<void> | undefined;
  const sweepAll = async (): Promise<void> => {
    let found = 1;
    while (found > 0 && !isClosed) {
      const nowMs = clock.nowMs();
      found = await store.sweepFiles({ nowMs, uploadsBeforeMs: nowMs - uploadMsMax, rowsMax: sweepRowsMax });
    }
  };
  const sweep = (): void => {
    sweeping ??= sweepAll()
      .catch((error: unknown) => logger.warn({ err: error }, 'sweep of expired and deleted files failed'))
      .finally(() => (sweeping = undefined));
  };
  const timer = setInterval(sweep, sweepMs).unref();
  return {
    close: async () => {
      isClosed = true;
      clearInterval(timer);
      await sweeping;
    },
  };
}
