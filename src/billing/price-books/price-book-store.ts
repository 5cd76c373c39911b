/** What a published book is beside its prices. */
export type PriceBookSummary = {
  /** Counts up from 1 in each database; the newest is in force. */
  readonly number: number;
  /** SHA-256 of `book`, in hexadecimal digits. */
  readonly digest: string;
  /** The version that its author gave it. */
  readonly label: string;
  /** `override`: it takes the place of what the shipped book says of its models. `whole`: the shipped book is not used beside it. */
  readonly scope: 'override' | 'whole';
  /** First day (UTC) of what it changed, such as `2026-12-01`. What held before that day is in it too. */
  readonly effectiveFrom: string;
  readonly publishedAtMs: number;
  /** Who published it, and why. */
  readonly actor: string;
  readonly note?: string;
};

/** A price book as it was published, for all gateways of a database. It never changes. */
export type PublishedPriceBook = PriceBookSummary & {
  /** The book, in the form of a price book file, as JSON. */
  readonly book: string;
};

/** All that the charges of one price version were computed from, as a gateway had it in force. */
export type RecordedPrices = {
  /** The version that rows and receipts name. */
  readonly version: string;
  /** A `PriceBasis` as JSON. */
  readonly basis: string;
  readonly recordedAtMs: number;
};

/** Price books that every gateway of a database has, and those that stood behind its receipts. Both are only added to. All reject with StoreError. */
export type PriceBookStore = {
  /** Adds a book. False, and nothing is added, where there is one of its number. */
  readonly insertPriceBook: (book: PublishedPriceBook) => Promise<boolean>;
  readonly newestPriceBook: () => Promise<PriceBookSummary | undefined>;
  readonly findPriceBook: (number: number) => Promise<PublishedPriceBook | undefined>;
  /** The newest first, at most `limit`, of those with numbers below `before`. */
  readonly listPriceBooks: (page: { readonly before?: number; readonly limit: number }) => Promise<readonly PriceBookSummary[]>;
  /** Keeps what is behind a version. Of a version that is kept already nothing changes. */
  readonly recordPrices: (prices: RecordedPrices) => Promise<void>;
  readonly findRecordedPrices: (version: string) => Promise<RecordedPrices | undefined>;
};
