import type { CallEntry } from '../ledger/call-entry.ts';

/** The members of an entry that its price, its group and its part in the sums depend on. */
export const pricedMembers = [
  'userName',
  'keyId',
  'keyName',
  'requestedModel',
  'vendor',
  'upstreamModel',
  'priceVersion',
  'parentCallId',
  'toolUsage',
  'pricingParameters',
  'end',
  'upstreamStatus',
  'serviceTier',
  'replyParameters',
  'usage',
  'settlement',
] as const satisfies readonly (keyof CallEntry)[];

/** An entry without what its price does not depend on. */
export type PricedEntry = Pick<CallEntry, (typeof pricedMembers)[number]>;

/** A row of the ledger, whose entry is read only if no row like it was read before. */
export type PricedRow = {
  readonly callId: string;
  readonly acceptedAtMs: number;
  readonly amountNanoUsd: bigint;
  /** The same for rows with the same `PricedEntry`. Undefined if that is not known without reading it. */
  readonly kind: string | undefined;
  readonly readEntry: () => PricedEntry;
};

/** The next rows of a span; see `listEntriesBetween`. */
type PricedRowPage = {
  readonly startMs: number;
  readonly endMs: number;
  readonly limit: number;
  readonly after?: { readonly acceptedAtMs: number; readonly callId: string };
};

export type PricedRowStore = {
  /** As `listEntriesBetween`, with as much of each row as its price needs. */
  readonly listPricedRows: (page: PricedRowPage) => Promise<readonly PricedRow[]>;
};
