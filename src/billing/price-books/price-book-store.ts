import type { Change } from '../../audit/change-author.ts';

/** A published book without its prices. */
export type PriceBookSummary = {
  /** Counts from 1 in each database; the newest is in force. */
  readonly number: number;
  /** SHA-256 of `book`, in hexadecimal digits. */
  readonly digest: string;
  /** The version that its author chose. */
  readonly label: string;
  /** `override`: its models replace those of the shipped book. `whole`: it replaces the whole shipped book. */
  readonly scope: 'override' | 'whole';
  /** First day (UTC) of its changes, such as `2026-12-01`. It also contains the prices before that day. */
  readonly effectiveFrom: string;
  readonly publishedAtMs: number;
  /** The publisher, and the reason. */
  readonly actor: string;
  readonly note?: string;
};

/** A published price book for all gateways of a database. It never changes. */
export type PublishedPriceBook = PriceBookSummary & {
  /** The book as JSON, in the form of a price book file. */
  readonly book: string;
};

/** Everything that the charges of one price version are computed from. */
export type RecordedPrices = {
  /** The version in rows and receipts. */
  readonly version: string;
  /** A `PriceBasis` as JSON. */
  readonly basis: string;
  readonly recordedAtMs: number;
};

/**
 * Stores the price books of all gateways of a database, and the prices behind its receipts. Both are append-only. All
 * methods reject with StoreError.
 */
export type PriceBookStore = {
  /** Adds a book. False, without a change, if its number exists. */
  readonly insertPriceBook: (book: PublishedPriceBook, change: Change) => Promise<boolean>;
  readonly newestPriceBook: () => Promise<PriceBookSummary | undefined>;
  readonly findPriceBook: (number: number) => Promise<PublishedPriceBook | undefined>;
  /** The newest first, at most `limit`, of those with numbers below `before`. */
  readonly listPriceBooks: (page: { readonly before?: number; readonly limit: number }) => Promise<readonly PriceBookSummary[]>;
  /** Stores the prices behind a version. A version that exists is not changed. */
  readonly recordPrices: (prices: RecordedPrices) => Promise<void>;
  readonly findRecordedPrices: (version: string) => Promise<RecordedPrices | undefined>;
};
