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

/** A page of a list by time of creation, and by id among those of the same moment. */
export type ListPage = {
  readonly limit: number;
  readonly order: 'asc' | 'desc';
  /** Ids that the page follows or precedes. One that is not in the list gives an empty page. */
  readonly after?: string | undefined;
  readonly before?: string | undefined;
};

/** Says whose something is. What belongs to another user is answered as if it did not exist. */
type Owned<Rest> = Rest & { readonly userName: string };

/** Files and their content. Pieces come sealed: a store never sees what is in a file. */
export type FilesStore = {
  /** Makes place for a file that is coming. It is seen by nobody until it is finished. */
  readonly beginUpload: (upload: Owned<{ readonly fileId: string; readonly startedAtMs: number }>) => Promise<void>;
  /** False when the upload is gone. */
  readonly appendPiece: (piece: { readonly fileId: string; readonly index: number; readonly sealed: Uint8Array }) => Promise<boolean>;
  /** Shows the file. False when the upload is gone; `no-room` when the user would then have more than `userBytesMax`. */
  readonly finishUpload: (file: StoredFile, userBytesMax: number) => Promise<boolean | 'no-room'>;
  /** Forgets an upload that was not finished. */
  readonly discardUpload: (fileId: string) => Promise<void>;
  readonly readPiece: (piece: { readonly fileId: string; readonly index: number }) => Promise<Uint8Array | undefined>;
  readonly findFile: (file: Owned<{ readonly fileId: string; readonly nowMs: number }>) => Promise<StoredFile | undefined>;
  readonly listFiles: (
    page: Owned<ListPage & { readonly purpose?: string | undefined; readonly nowMs: number }>,
  ) => Promise<readonly StoredFile[]>;
  /** Deletes a file with all that was made of it: pieces, chunks, vectors, index rows. False when there is none. */
  readonly deleteFile: (file: Owned<{ readonly fileId: string }>) => Promise<boolean>;
  /**
   * Deletes expired files, what expired stores have indexed, uploads that began before a time, and what is left of deleted things in the index. Resolves
   * with how much it found, at most `rowsMax` of each; zero when there is nothing more to do.
   */
  readonly sweepFiles: (limits: { readonly nowMs: number; readonly uploadsBeforeMs: number; readonly rowsMax: number }) => Promise<number>;
};

/** Vector stores, their files, and the batches in which those came. */
export type VectorStoresStore = {
  readonly insertVectorStore: (store: VectorStore) => Promise<void>;
  readonly findVectorStore: (store: Owned<{ readonly storeId: string }>) => Promise<CountedStore | undefined>;
  readonly listVectorStores: (page: Owned<ListPage>) => Promise<readonly CountedStore[]>;
  /** Replaces name, metadata, expiry and last use. False when there is no such store of this user. */
  readonly changeVectorStore: (store: VectorStore) => Promise<boolean>;
  /** A store was used: what counts from its last use begins anew. */
  readonly touchVectorStore: (store: Owned<{ readonly storeId: string; readonly nowMs: number }>) => Promise<void>;
  /** Deletes a store with its index. The files stay. False when there is none. */
  readonly deleteVectorStore: (store: Owned<{ readonly storeId: string }>) => Promise<boolean>;
  /**
   * Puts files into a store, all or none; one that is there already is indexed anew. A batch comes into being with its files.
   * Resolves with the ids of files that are not the user's; `no-store` when there is no such store.
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
  /** Takes a file out of a store, with all that the index has of it. */
  readonly removeStoreFile: (file: Owned<{ readonly storeId: string; readonly fileId: string }>) => Promise<boolean>;
  readonly findBatch: (batch: Owned<{ readonly storeId: string; readonly batchId: string }>) => Promise<FileBatch | undefined>;
  /** Cancels what of a batch is not done yet. False when there is no such batch. */
  readonly cancelBatch: (batch: Owned<{ readonly storeId: string; readonly batchId: string }>) => Promise<boolean>;
};

/** Who works on a file of a store. A lease that has run out may be taken by another. */
export type IndexingLease = { readonly storeId: string; readonly fileId: string; readonly owner: string };

/** A file that is to be indexed. */
export type IndexingTask = IndexingLease & { readonly userName: string; readonly chunking: Chunking };

/** The index: what is to be put in, and what is found. */
export type ChunkStore = {
  /**
   * Takes the file that has waited longest, of all users but some, and forgets what an earlier attempt left. One that was taken up too often is failed instead:
   * it may be what ends the process.
   */
  readonly claimIndexing: (claim: {
    readonly owner: string;
    readonly nowMs: number;
    readonly leaseMs: number;
    readonly attemptsMax: number;
    /** Users whose turn it is not. */
    readonly exceptUsers?: readonly string[];
  }) => Promise<IndexingTask | undefined>;
  /** False when the lease is lost: the file was deleted or cancelled, or somebody else works on it. */
  readonly renewIndexing: (lease: IndexingLease & { readonly leaseUntilMs: number }) => Promise<boolean>;
  /** Adds chunks in the order of the text, `firstIndex` being the place of the first. False when the lease is lost. */
  readonly addChunks: (lease: IndexingLease & { readonly firstIndex: number; readonly chunks: readonly Chunk[] }) => Promise<boolean>;
  /** Ends the work. A failed one leaves nothing in the index. */
  readonly finishIndexing: (
    lease: IndexingLease & { readonly status: 'completed' | 'failed'; readonly error?: IndexingError },
  ) => Promise<boolean>;
  /** Gives a file back that could not be worked on now. It is taken up again after a time. */
  readonly postponeIndexing: (lease: IndexingLease & { readonly untilMs: number }) => Promise<void>;
  /**
   * The chunks of a user's stores that fit best, best first: by words, and by the nearness of their vectors where one is given.
   * @param vector of the length 1
   * @param match an expression of the index, made by `matchExpression` and nothing else
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
  /** Chunks by id, in the order asked for; those that are gone are left out. */
  readonly readChunks: (chunks: Owned<{ readonly ids: readonly number[] }>) => Promise<readonly FoundChunk[]>;
  /** The indexed text of a file in order, from a place on. */
  readonly readText: (
    text: Owned<{ readonly storeId: string; readonly fileId: string; readonly fromIndex: number; readonly limit: number }>,
  ) => Promise<readonly string[]>;
};

export type FileSearchStore = FilesStore & VectorStoresStore & ChunkStore;
