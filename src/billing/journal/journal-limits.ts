/** Sizes and times of a journal. */
export type JournalLimits = {
  /** The most entries in memory that wait for the store; further ones are read back from the segments. */
  readonly entriesInMemoryMax: number;
  /** The most entries that may wait for the store before new calls are refused. */
  readonly entriesPendingMax: number;
  readonly batchEntriesMax: number;
  readonly storeTimeoutMs: number;
  readonly backoffMs: { readonly first: number; readonly last: number };
  /** After a failure of the disk, the time until the next attempt. */
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
