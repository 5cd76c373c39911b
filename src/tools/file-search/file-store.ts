import type { FileFilter } from '../../inference/inference-request.ts';
import type {
  Attributes,
  Chunk,
  Chunking,
  CountedStore,
  FileBatch,
  FoundChunk,
  IndexingError,
  IndexingStatus,
  StoredFile,
  StoreFile,
  VectorStore,
} from './file-objects.ts';

/** A page of a list that is ordered by creation time, then by id. */
export type ListPage = {
  readonly limit: number;
  readonly order: 'asc' | 'desc';
  /** Ids that the page follows or precedes. An unknown id gives an empty page. */
  readonly after?: string | undefined;
  readonly before?: string | undefined;
};

/** Names the owner. Objects of another user are treated as if they did not exist. */
type Owned<Rest> = Rest & { readonly userName: string };

/** Files and their content. Pieces are sealed before they reach the store, which never sees the content of a file. */
export type FilesStore = {
  /** Reserves room for a file. It is invisible until it is finished. */
  readonly beginUpload: (upload: Owned<{ readonly fileId: string; readonly startedAtMs: number }>) => Promise<void>;
  /** False if the upload no longer exists. */
  readonly appendPiece: (piece: { readonly fileId: string; readonly index: number; readonly sealed: Uint8Array }) => Promise<boolean>;
  /**
   * Makes the file visible. False if the upload no longer exists; `no-room` if the user would then have more than
   * `userBytesMax`.
   */
  readonly finishUpload: (file: StoredFile, userBytesMax: number) => Promise<boolean | 'no-room'>;
  /** Deletes an unfinished upload. */
  readonly discardUpload: (fileId: string) => Promise<void>;
  readonly readPiece: (piece: { readonly fileId: string; readonly index: number }) => Promise<Uint8Array | undefined>;
  readonly findFile: (file: Owned<{ readonly fileId: string; readonly nowMs: number }>) => Promise<StoredFile | undefined>;
  readonly listFiles: (
    page: Owned<ListPage & { readonly purpose?: string | undefined; readonly nowMs: number }>,
  ) => Promise<readonly StoredFile[]>;
  /** Deletes a file and everything derived from it: pieces, chunks, vectors, index rows. False if it does not exist. */
  readonly deleteFile: (file: Owned<{ readonly fileId: string }>) => Promise<boolean>;
  /**
   * Deletes expired files, the index of expired stores, uploads that began before a time, and remains of deleted
   * objects in the index. Resolves with the number of rows found, at most `rowsMax` of each kind; zero if nothing
   * remains.
   */
  readonly sweepFiles: (limits: { readonly nowMs: number; readonly uploadsBeforeMs: number; readonly rowsMax: number }) => Promise<number>;
};

/** Vector stores, their files, and the batches in which the files were added. */
export type VectorStoresStore = {
  readonly insertVectorStore: (store: VectorStore) => Promise<void>;
  readonly findVectorStore: (store: Owned<{ readonly storeId: string }>) => Promise<CountedStore | undefined>;
  readonly listVectorStores: (page: Owned<ListPage>) => Promise<readonly CountedStore[]>;
  /** Replaces name, metadata, expiry and last use. False if the user has no such store. */
  readonly changeVectorStore: (store: VectorStore) => Promise<boolean>;
  /** Records the use of a store, from which its expiry counts. */
  readonly touchVectorStore: (store: Owned<{ readonly storeId: string; readonly nowMs: number }>) => Promise<void>;
  /** Deletes a store with its index. The files stay. False if it does not exist. */
  readonly deleteVectorStore: (store: Owned<{ readonly storeId: string }>) => Promise<boolean>;
  /**
   * Adds files to a store, all or none. A file that is already in the store is indexed again. A batch is created with
   * its files. Resolves with the ids of files that do not belong to the user; `no-store` if the store does not exist.
   */
  readonly addStoreFiles: (
    files: Owned<{
      readonly storeId: string;
      readonly batchId?: string | undefined;
      readonly files: readonly { readonly fileId: string; readonly attributes: Attributes; readonly chunking: Chunking }[];
      readonly nowMs: number;
    }>,
  ) => Promise<readonly string[] | 'no-store'>;
  readonly findStoreFile: (file: Owned<{ readonly storeId: string; readonly fileId: string }>) => Promise<StoreFile | undefined>;
  readonly listStoreFiles: (
    page: Owned<
      ListPage & { readonly storeId: string; readonly batchId?: string | undefined; readonly status?: IndexingStatus | undefined }
    >,
  ) => Promise<readonly StoreFile[]>;
  readonly changeAttributes: (
    file: Owned<{ readonly storeId: string; readonly fileId: string; readonly attributes: Attributes }>,
  ) => Promise<boolean>;
  /** Removes a file from a store and its index. */
  readonly removeStoreFile: (file: Owned<{ readonly storeId: string; readonly fileId: string }>) => Promise<boolean>;
  readonly findBatch: (batch: Owned<{ readonly storeId: string; readonly batchId: string }>) => Promise<FileBatch | undefined>;
  /** Cancels the unfinished files of a batch. False if the batch does not exist. */
  readonly cancelBatch: (batch: Owned<{ readonly storeId: string; readonly batchId: string }>) => Promise<boolean>;
};

/** The worker that indexes a file of a store. Another worker may take an expired lease. */
export type IndexingLease = { readonly storeId: string; readonly fileId: string; readonly owner: string };

/** A file that waits for indexing. */
export type IndexingTask = IndexingLease & { readonly userName: string; readonly chunking: Chunking };

/** The search index. */
export type ChunkStore = {
  /**
   * Leases the file that has waited longest, except for some users, and deletes the remains of earlier attempts. A file
   * that was leased too often fails instead, because it may be the cause of crashes.
   */
  readonly claimIndexing: (claim: {
    readonly owner: string;
    readonly nowMs: number;
    readonly leaseMs: number;
    readonly attemptsMax: number;
    /** Users whose files are skipped. */
    readonly exceptUsers?: readonly string[];
  }) => Promise<IndexingTask | undefined>;
  /** False if the lease is lost: the file was deleted or cancelled, or another worker has it. */
  readonly renewIndexing: (lease: IndexingLease & { readonly leaseUntilMs: number }) => Promise<boolean>;
  /** Adds chunks in the order of the text; `firstIndex` is the position of the first. False if the lease is lost. */
  readonly addChunks: (lease: IndexingLease & { readonly firstIndex: number; readonly chunks: readonly Chunk[] }) => Promise<boolean>;
  /** Ends the work. A failed file leaves nothing in the index. */
  readonly finishIndexing: (
    lease: IndexingLease & { readonly status: 'completed' | 'failed'; readonly error?: IndexingError },
  ) => Promise<boolean>;
  /** Returns a file that could not be indexed now. It is leased again after a time. */
  readonly postponeIndexing: (lease: IndexingLease & { readonly untilMs: number }) => Promise<void>;
  /**
   * Finds the chunks of a user's stores that match best, best first: by words, and by the distance of vectors if one is
   * given.
   * @param vector of length 1
   * @param match an expression of the index, created by `matchExpression` and nothing else
   */
  readonly searchChunks: (
    query: Owned<{
      readonly storeIds: readonly string[];
      readonly match?: string | undefined;
      readonly vector?: Float32Array | undefined;
      readonly filter?: FileFilter | undefined;
      readonly candidatesMax: number;
    }>,
  ) => Promise<{ readonly byText: readonly number[]; readonly byVector: readonly number[] }>;
  /** Reads chunks by id, in the given order. Missing chunks are left out. */
  readonly readChunks: (chunks: Owned<{ readonly ids: readonly number[] }>) => Promise<readonly FoundChunk[]>;
  /** Reads the indexed text of a file in order, from a position on. */
  readonly readText: (
    text: Owned<{ readonly storeId: string; readonly fileId: string; readonly fromIndex: number; readonly limit: number }>,
  ) => Promise<readonly string[]>;
};

export type FileSearchStore = FilesStore & VectorStoresStore & ChunkStore;
