import type { Change } from '../../audit/change-author.ts';

/** Prices that somebody prepares: they charge nothing until they are published. */
export type PriceDraft = {
  readonly id: string;
  readonly name: string;
  readonly note?: string;
  /** A checked price book as JSON, in the form of a price book file. */
  readonly book: string;
  readonly createdAtMs: number;
  readonly changedAtMs: number;
  /** The author. */
  readonly actor: string;
};

/** A draft without its prices. */
export type PriceDraftSummary = Omit<PriceDraft, 'book'>;

/** Drafts of a database at a time. */
export const priceDraftsMax = 100;

/** Absent members stay, and null removes a note. */
type PriceDraftEdit = { readonly name?: string; readonly note?: string | null; readonly book?: string };

/** Stores drafts of prices. Each change is in the audit log, with the subject `price_draft:<id>`. */
export type PriceDraftStore = {
  /** False, without a change, if there are `priceDraftsMax` drafts. */
  readonly insertPriceDraft: (draft: PriceDraft, change: Change) => Promise<boolean>;
  /** All of them, newest first. */
  readonly listPriceDrafts: () => Promise<readonly PriceDraftSummary[]>;
  readonly findPriceDraft: (id: string) => Promise<PriceDraft | undefined>;
  /** False if there is no such draft. */
  readonly changePriceDraft: (id: string, edit: PriceDraftEdit, change: Change) => Promise<boolean>;
  /** False if there is no such draft. */
  readonly deletePriceDraft: (id: string, change: Change) => Promise<boolean>;
};
