import type { LeaseStore } from '../../credits/credit-store.ts';
import type { Pot } from '../../credits/pots.ts';
import type { Payer } from '../../credits/credit-desk.ts';
import type { StatisticsStore } from '../../statistics/statistics-store.ts';

/** The part of a row that the auditor checks. */
export type BookedRow = {
  readonly callId: string;
  readonly userName: string;
  readonly keyId: string;
  readonly acceptedAtMs: number;
  readonly amountNanoUsd: bigint;
};

/** Spend and reserve of a pot, in nano-USD. `reserved`: its leases, and the holds of unfinished videos. */
type PotAtRest = { readonly spent: bigint; readonly reserved: bigint };

/** The shared books after everything has ended. */
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
  /** Books entries as the journal ships them. Returns the number of new ones. */
  readonly append: (entries: readonly Uint8Array[], nodeId: string) => number | Promise<number>;
  /** Creates the users and their keys, by names and ids. */
  readonly open: (payers: readonly Payer[]) => void | Promise<void>;
  /** Pays into a user's balance. */
  readonly pay: (userName: string, nanoUsd: bigint) => void | Promise<void>;
  /** The leases of a process that are not spent, of all pots together, in nano-USD. */
  readonly leasedBy: (nodeId: string) => bigint | Promise<bigint>;
  readonly atRest: () => BooksAtRest | Promise<BooksAtRest>;
  readonly close: () => void;
};
