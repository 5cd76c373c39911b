/** Bounds of what a journal holds and for how long it tries. */
export type JournalLimits = {
  /** Entries kept in memory while they wait for the store; further ones are read back from the segments. */
  readonly entriesInMemoryMax: number;
  /** Entries that may wait for the store before new calls are refused. */
  readonly entriesPendingMax: number;
  readonly batchEntriesMax: number;
  readonly storeTimeoutMs: number;
  readonly backoffMs: { readonly first: number; readonly last: number };
  /** After a failure of the disk, how long until the next attempt. */
  readonly retryIntervalMs: number;
  readonly unsyncedBytesMax: number;
  readonly closeTimeoutMs: number;
};

export const defaultLimits: JournalLimits = {
  entriesInMemoryMax: 5_000,
  entriesPendingMax: 1_000_000,
  batchEntriesMax: 500,
  storeTimeoutMs: 30_000,
  backoffMs: { first: 100, last: 5_000 },
  retryIntervalMs: 1_000,
  unsyncedBytesMax: 16 * 1024 * 1024,
  closeTimeoutMs: 5_000,
};
