import type { BookProblem } from './credit-books.ts';

/** The outcome of adding up all balances and sums again. */
export type BookVerification = {
  /** `ver_…`, or `node:<id>` for a gateway, of which only the last whole pass is kept. */
  readonly id: string;
  /** The person or program that began it, or `node:<id>`. */
  readonly author: string;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  /** Rows of the books. */
  readonly checked: number;
  readonly problemCount: number;
  /** At most problemsKept. */
  readonly problems: readonly BookProblem[];
};

/** The most problems of a verification that are kept. */
export const problemsKept = 100;
/** After this time verifications are removed, and the oldest if there are more rows. */
export const verificationsKept = { ms: 400 * 86_400_000, rows: 1000 };

/** The store that keeps verifications. All methods reject with the store's error. */
export type VerificationStore = {
  /** Keeps a verification, in place of one with its id, and removes old ones. */
  readonly keepVerification: (verification: BookVerification) => Promise<void>;
  /** Those that ended last come first. */
  readonly listVerifications: (page: {
    readonly after?: { readonly endedAtMs: number; readonly id: string };
    readonly limit: number;
  }) => Promise<readonly BookVerification[]>;
};
