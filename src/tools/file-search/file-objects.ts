import type { JsonObject } from '../../platform/json/json-value.ts';

/** A file that a user has put here. Its content is kept in sealed pieces. */
export type StoredFile = {
  readonly id: string;
  readonly userName: string;
  readonly filename: string;
  readonly purpose: string;
  /** As it was sniffed from its first bytes, not as the client said. */
  readonly mediaType: string;
  readonly bytes: number;
  readonly createdAtMs: number;
  readonly expiresAtMs?: number;
};

/** How a file is cut. Tokens are estimated. */
export type Chunking = {
  /** Whether the client left it to us; then the figures are the default ones. */
  readonly isAuto: boolean;
  /** From 100 to 4096. */
  readonly tokensMax: number;
  /** At most half of `tokensMax`. */
  readonly overlapTokens: number;
};

export const autoChunking: Chunking = { isAuto: true, tokensMax: 800, overlapTokens: 400 };

/** Where a file of a store stands. Only what is completed is found. */
export type IndexingStatus = 'in_progress' | 'completed' | 'failed' | 'cancelled';

export type FileCounts = { readonly [Status in IndexingStatus]: number };

/** A collection of files that can be searched. */
export type VectorStore = {
  readonly id: string;
  readonly userName: string;
  readonly name: string;
  readonly metadata: JsonObject;
  readonly createdAtMs: number;
  readonly lastActiveAtMs: number;
  /** Days after the last use when it expires; absent: never. */
  readonly expiresAfterDays?: number;
};

/** A store with what its files add up to. */
export type CountedStore = VectorStore & { readonly counts: FileCounts; readonly usageBytes: number };

/** Why a file could not be indexed, in words for its owner. */
export type IndexingError = { readonly code: 'server_error' | 'unsupported_file' | 'invalid_file'; readonly message: string };

/** Strings, numbers and truth values by which a search can be narrowed. */
export type Attributes = Readonly<Record<string, string | number | boolean>>;

/** A file in a store. */
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

/** Files that were put into a store with one request. */
export type FileBatch = {
  readonly id: string;
  readonly storeId: string;
  readonly createdAtMs: number;
  readonly isCancelled: boolean;
  readonly counts: FileCounts;
};

/** A piece of a file's text as it goes into the index. */
export type Chunk = {
  readonly text: string;
  /** The text with its words set apart, as the index reads it. */
  readonly terms: string;
  /** Of the length 1. */
  readonly vector?: Float32Array;
};

/** A piece of text that was found. */
export type FoundChunk = {
  readonly id: number;
  readonly storeId: string;
  readonly fileId: string;
  readonly filename: string;
  readonly attributes: Attributes;
  readonly text: string;
};

const dayMs = 86_400_000;

/** When a store expires; undefined where it never does. */
export function expiryOf(store: Pick<VectorStore, 'lastActiveAtMs' | 'expiresAfterDays'>): number | undefined {
  return store.expiresAfterDays === undefined ? undefined : store.lastActiveAtMs + store.expiresAfterDays * dayMs;
}
