import type { Change } from '../../audit/change-author.ts';

/** How long reconciliations are kept: the audits of a year and a month look at them. */
export const reconciliationsKeptMs = 400 * 86_400_000;
/** Newer ones replace the oldest. */
export const reconciliationsMax = 2000;

/** The sums of a finished comparison. */
export type ReconciliationSummary = {
  /** Models times days (times items) that were compared, that differ, and that differ by more than the tolerance. */
  readonly compared: number;
  readonly differing: number;
  readonly over: number;
  /** Amounts as nano-USD, of a comparison of costs. */
  readonly listNanoUsd?: string;
  readonly theirNanoUsd?: string;
  readonly chargedNanoUsd?: string;
};

/** A comparison of the ledger with a vendor's export, without its data. */
export type StoredReconciliation = {
  /** `rec_…` */
  readonly id: string;
  readonly createdAtMs: number;
  /** The person or program that began it. */
  readonly actor: string;
  /** A name of `vendorExports`. */
  readonly vendor: string;
  readonly upstream?: string;
  readonly kind: 'usage' | 'costs';
  readonly timeZone: string;
  /** The compared time, `[startMs, endMs)`. */
  readonly startMs: number;
  readonly endMs: number;
  /** In percent, as it was given. */
  readonly tolerance: string;
  /** The price book for costs. */
  readonly prices: string;
  readonly file: { readonly name: string; readonly bytes: number; readonly sha256: string };
  readonly operationId?: string;
  /** Absent until it is compared. */
  readonly summary?: ReconciliationSummary;
  readonly endedAtMs?: number;
  readonly note?: string;
  readonly accepted?: { readonly atMs: number; readonly by: string };
};

/** The store of reconciliations. All methods reject with the store's error. */
export type ReconciliationStore = {
  /** Adds one with its account as encodeAccount writes it, and deletes those whose time is over. */
  readonly insertReconciliation: (added: StoredReconciliation, account: string) => Promise<void>;
  readonly setReconciliationOperation: (id: string, operationId: string) => Promise<void>;
  /** Removes one whose operation did not begin. */
  readonly dropReconciliation: (id: string) => Promise<void>;
  readonly findReconciliation: (id: string) => Promise<StoredReconciliation | undefined>;
  /** Newest first. */
  readonly queryReconciliations: (query: {
    readonly vendor?: string;
    readonly upstream?: string;
    /** Whose compared time overlaps `[fromMs, toMs)`. */
    readonly fromMs?: number;
    readonly toMs?: number;
    readonly after?: { readonly createdAtMs: number; readonly id: string };
    readonly limit: number;
  }) => Promise<readonly StoredReconciliation[]>;
  /** The account and, if it is compared, the result as JSON. */
  readonly readReconciliation: (id: string) => Promise<{ readonly account: string; readonly result?: string } | undefined>;
  readonly finishReconciliation: (
    id: string,
    end: { readonly result: string; readonly summary: ReconciliationSummary; readonly endedAtMs: number },
  ) => Promise<void>;
  /** Absent members stay, null takes away. False if there is none. */
  readonly changeReconciliation: (
    id: string,
    edit: { readonly note?: string | null; readonly accepted?: boolean },
    change: Change,
  ) => Promise<boolean>;
};
