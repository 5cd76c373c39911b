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

/** How much users may keep. */
export type FileLimits = {
  readonly fileBytesMax: number;
  /** All files of a user together. */
  readonly userBytesMax: number;
};

const mebibyte = 1024 * 1024;
export const defaultFileLimits: FileLimits = { fileBytesMax: 64 * mebibyte, userBytesMax: 10 * 1024 * mebibyte };

/** A file of a user as a request may have it in its input. */
type ResolvedFile = { readonly filename: string; readonly mediaType: string; readonly bytes: Uint8Array<ArrayBuffer> };

/** Files, vector stores and what finds things in them. */
export type FileService = {
  readonly store: FileSearchStore;
  readonly library: FileLibrary;
  readonly search: SearchFiles;
  readonly limits: () => FileLimits;
  /** Files were put into a store. */
  readonly filesAdded: () => void;
  /** A user's file with its content; undefined for any other id. */
  readonly resolveFile: (userName: string, fileId: string) => Promise<ResolvedFile | undefined>;
  readonly close: () => Promise<void>;
};

const sweepMs = 5000;
/** Rows of each kind that one sweep takes: it holds up whoever else writes. */
const sweepRowsMax = 20;
/** An upload that takes longer was left by a process that died, or by a client that does not end. */
const uploadMsMax = 3_600_000;

/** Opens the files under a key, and begins to index what is left to do. */
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

/** Deletes in the background what has expired, and what deleting left to be done. */
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
      .catch((error: unknown) => logger.warn({ err: error }, 'expired and deleted files could not be swept away now'))
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
