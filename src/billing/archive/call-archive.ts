import type { CallTransaction } from '../calls/call-facts-store.ts';

/**
 * A row of the ledger as an archive has it: the columns of `calls`, and the whole entry. A missing value is undefined.
 */
export type ArchivedRow = {
  readonly callId: string;
  readonly acceptedAtMs: number;
  readonly userName: string;
  readonly keyId: string | undefined;
  readonly keyName: string;
  readonly requestedModel: string;
  readonly amountNanoUsd: bigint;
  /** 1: a call that statistics count. 2: a part of one. 0: neither. */
  readonly billed: number;
  readonly promptTokens: bigint;
  readonly completionTokens: bigint;
  readonly cacheTokens: bigint;
  readonly cacheCreationTokens: bigint;
  readonly useTimeMs: bigint;
  readonly replyId: string | undefined;
  readonly heldPots: number | undefined;
  readonly transactionId: string | undefined;
  readonly disputed: number;
  readonly unpriced: number;
  /** The entry as it was booked, as JSON. */
  readonly entry: string;
};

/** Sums of rows: the counts, the calls and the amount that statistics count apart from the whole amount. */
export type ArchiveSums = {
  readonly rows: number;
  readonly billedCalls: number;
  readonly amountNanoUsd: bigint;
  readonly billedNanoUsd: bigint;
  readonly promptTokens: bigint;
  readonly completionTokens: bigint;
};

export const noSums: ArchiveSums = {
  rows: 0,
  billedCalls: 0,
  amountNanoUsd: 0n,
  billedNanoUsd: 0n,
  promptTokens: 0n,
  completionTokens: 0n,
};

/** Sums and the sums of more rows. */
export function addRows(sums: ArchiveSums, rows: readonly ArchivedRow[]): ArchiveSums {
  let { billedCalls, amountNanoUsd, billedNanoUsd, promptTokens, completionTokens } = sums;
  for (const row of rows) {
    const counts = row.billed === 1 || row.billed === 2;
    if (row.billed === 1) billedCalls += 1;
    if (counts) billedNanoUsd += row.amountNanoUsd;
    amountNanoUsd += row.amountNanoUsd;
    promptTokens += row.promptTokens;
    completionTokens += row.completionTokens;
  }
  return { rows: sums.rows + rows.length, billedCalls, amountNanoUsd, billedNanoUsd, promptTokens, completionTokens };
}

/** The sums that differ between two, in words; empty if they are equal. */
export function differingSums(one: ArchiveSums, other: ArchiveSums): readonly string[] {
  return (Object.keys(noSums) as readonly (keyof ArchiveSums)[])
    .filter((name) => one[name] !== other[name])
    .map((name) => `${name} ${one[name]} instead of ${other[name]}`);
}

/** A file with rows of one month (UTC). Only verified files are known to the store. */
export type CallArchive = {
  /** The name of the file without its ending: `calls-2026-01`, and `calls-2026-01-2` for rows that came later. */
  readonly id: string;
  /** The month, `[fromMs, untilMs)`. */
  readonly fromMs: number;
  readonly untilMs: number;
  /** `verified`: the file is complete, and its rows are being dropped. `dropped`: all of them are. */
  readonly state: 'verified' | 'dropped';
  readonly bytes: number;
  readonly sha256: string;
  /** What the file has, and what of it has been dropped from the store. */
  readonly sums: ArchiveSums;
  readonly dropped: ArchiveSums;
  readonly verifiedAtMs: number;
  readonly droppedAtMs?: number;
};

/** A row that is no longer in the store, and when its call was accepted: this says which archives may have it. */
export type ArchivedPlace = { readonly callId: string; readonly atMs: number };

/** The store that the retention of calls needs. All methods reject with the store's error. */
export type ArchiveStore = {
  /** All archives, the oldest first. */
  readonly listArchives: () => Promise<readonly CallArchive[]>;
  /** When the oldest row was accepted that may be archived and was accepted before a time. */
  readonly oldestArchivable: (beforeMs: number) => Promise<number | undefined>;
  /**
   * The next rows of a span that may be archived, by time of acceptance and then by id. Rows without facts stay, and
   * rows with impossible figures that nobody has settled.
   */
  readonly listArchivable: (page: {
    readonly startMs: number;
    readonly endMs: number;
    readonly limit: number;
    readonly after?: { readonly acceptedAtMs: number; readonly callId: string };
  }) => Promise<readonly ArchivedRow[]>;
  /** Makes this owner the only one that archives, until a time. False: another one does. */
  readonly claimArchiving: (claim: { readonly owner: string; readonly nowMs: number; readonly untilMs: number }) => Promise<boolean>;
  readonly releaseArchiving: (owner: string) => Promise<void>;
  /** Keeps a verified file. From now on its rows may be dropped. Rejects if the owner archives no longer. */
  readonly keepArchive: (archive: CallArchive, owner: string) => Promise<void>;
  /**
   * Drops rows of a verified file in one transaction, after it has compared each with the row in the store. Rows that
   * were dropped before are skipped. Resolves with the number of dropped rows. Rejects with `corrupt` if a row differs;
   * then nothing is dropped.
   */
  readonly dropArchived: (drop: { readonly id: string; readonly owner: string; readonly rows: readonly ArchivedRow[] }) => Promise<number>;
  /** All rows of the file are dropped. */
  readonly endArchive: (end: { readonly id: string; readonly owner: string; readonly atMs: number }) => Promise<void>;
  /** Those of some rows that were dropped. */
  readonly listArchivedPlaces: (callIds: readonly string[]) => Promise<readonly ArchivedPlace[]>;
  /** Rows accepted before this may be in an archive; 0 if nothing was ever archived. */
  readonly archivedUntilMs: () => Promise<number>;
  readonly findTransactions: (transactionIds: readonly string[]) => Promise<readonly CallTransaction[]>;
};

/** Files of archives, in a folder or a bucket. A file exists completely or not at all. */
export type ArchiveFiles = {
  /** Where the file of an id is, for people. */
  readonly placeOf: (id: string) => string;
  /** An existing file is replaced. */
  readonly write: (id: string, pieces: AsyncIterable<Uint8Array>, signal: AbortSignal) => Promise<{ bytes: number; sha256: string }>;
  /** The bytes from `start` to `end`, both inclusive; undefined if there is no file. */
  readonly open: (
    id: string,
    range: { readonly start: number; readonly end: number } | undefined,
    signal: AbortSignal,
  ) => Promise<AsyncIterable<Uint8Array> | undefined>;
};

/** A file is missing, damaged, or has other rows than the store says. The message is for the operator. */
export class ArchiveError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ArchiveError';
  }
}
