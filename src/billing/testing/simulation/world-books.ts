import type { LeaseStore } from '../../credits/credit-store.ts';
import type { Pot } from '../../credits/pots.ts';
import type { Payer } from '../../credits/credit-desk.ts';
import type { StatisticsStore } from '../../statistics/statistics-store.ts';

/** What the auditor looks at of a row. */
export type BookedRow = {
  readonly callId: string;
  readonly userName: string;
  readonly keyId: string;
  readonly acceptedAtMs: number;
  readonly amountNanoUsd: bigint;
};

/** How a pot stands, in nano-USD. `reserved`: what is leased of it, and what videos in the making hold. */
type PotAtRest = { readonly spent: bigint; readonly reserved: bigint };

/** The shared books when everything has ended. */
export type BooksAtRest = {
  readonly rows: ReadonlyMap<string, BookedRow>;
  readonly readPot: (pot: Pot) => PotAtRest | Promise<PotAtRest>;
  readonly balanceOf: (userName: string) => bigint | Promise<bigint>;
  readonly statistics: Pick<StatisticsStore, 'queryStatistics'>;
  /** Rows that were shipped again after they had been booked. */
  readonly repeated: number;
};

/** The store that the processes of a world share: a model in memory, or a real one. */
export type WorldBooks = {
  readonly credits: LeaseStore;
  /** Books entries as the journal ships them. Returns how many were new. */
  readonly append: (entries: readonly Uint8Array[], nodeId: string) => number | Promise<number>;
  /** Makes the users and their keys, by names and ids. */
  readonly open: (payers: readonly Payer[]) => void | Promise<void>;
  /** Pays into a user's balance. */
  readonly pay: (userName: string, nanoUsd: bigint) => void | Promise<void>;
  /** What a process has leased and not spent, of all pots together, in nano-USD. */
  readonly leasedBy: (nodeId: string) => bigint | Promise<bigint>;
  readonly atRest: () => BooksAtRest | Promise<BooksAtRest>;
  readonly close: () => void;
};
