import type { JsonObject } from '../../platform/json/json-value.ts';

/** A file of a user. Its content is stored in sealed pieces. */
export type StoredFile = {
  readonly id: string;
  readonly userName: string;
  readonly filename: string;
  readonly purpose: string;
  /** The type that its first bytes show, not the client's. */
  readonly mediaType: string;
  readonly bytes: number;
  readonly createdAtMs: number;
  readonly expiresAtMs?: number;
};

/** How a file is split. Tokens are estimated. */
export type Chunking = {
  /** Whether the client left the choice to the gateway; then the default numbers apply. */
  readonly isAuto: boolean;
  /** From 100 to 4096. */
  readonly tokensMax: number;
  /** At most half of `tokensMax`. */
  readonly overlapTokens: number;
};

export const autoChunking: Chunking = { isAuto: true, tokensMax: 800, overlapTokens: 400 };

/** The state of a file in a store. Searches find only completed files. */
export type IndexingStatus = 'in_progress' | 'completed' | 'failed' | 'cancelled';

export type FileCounts = { readonly [Status in IndexingStatus]: number };

/** A searchable collection of files. */
export type VectorStore = {
  readonly id: string;
  readonly userName: string;
  readonly name: string;
  readonly metadata: JsonObject;
  readonly createdAtMs: number;
  readonly lastActiveAtMs: number;
  /** Days from the last use to expiry. Absent: it never expires. */
  readonly expiresAfterDays?: number;
};

/** A store with the totals of its files. */
export type CountedStore = VectorStore & { readonly counts: FileCounts; readonly usageBytes: number };

/** Why a file could not be indexed, for its owner. */
export type IndexingError = { readonly code: 'server_error' | 'unsupported_file' | 'invalid_file'; readonly message: string };

/** Strings, numbers and booleans that searches can filter by. */
export type Attributes = Readonly<Record<string, string | number | boolean>>;

/** A user's file that was added to a vector store, with the progress of its indexing. */
export type StoreFile = {
  readonly storeId: string;
  readonly fileId: string;
  readonly batchId?: string;
  readonly status: IndexingStatus;
  readonly error?: IndexingError;
  readonly attributes: Attributes;
  readonly chunking: Chunking;
  readonly createdAtMs: number;
  /** Bytes of its text and vectors in the index. */
  readonly usageBytes: number;
};

/** Files that one request added to a store. */
export type FileBatch = {
  readonly id: string;
  readonly storeId: string;
  readonly createdAtMs: number;
  readonly isCancelled: boolean;
  readonly counts: FileCounts;
};

/** A piece of a file's text for the index. */
export type Chunk = {
  readonly text: string;
  /** The text with its words separated, for the index. */
  readonly terms: string;
  /** A vector of length 1. */
  readonly vector?: Float32Array;
};

/** A piece of text that a search found. */
export type FoundChunk = {
  readonly id: number;
  readonly storeId: string;
  readonly fileId: string;
  readonly filename: string;
  readonly attributes: Attributes;
  readonly text: string;
};

const dayMs = 86_400_000;

/** Returns when a store expires. Undefined: never. */
export function expiryOf(store: Pick<VectorStore, 'lastActiveAtMs' | 'expiresAfterDays'>): number | undefined {
  return store.expiresAfterDays === undefined ? undefined : store.lastActiveAtMs + store.expiresAfterDays * dayMs;
}
