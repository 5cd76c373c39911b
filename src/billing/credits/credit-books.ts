import type { Change } from '../../audit/change-author.ts';
import { accountIdOf, type Pot, type PotOwner } from './pots.ts';

/** The purpose of a transaction. `usage` comes with calls; an operator posts the others. */
export type TransactionKind = 'usage' | 'top_up' | 'promo' | 'correction' | 'refund' | 'write_off';

/** Accounts that do not belong to a user: earned, paid in, given as promotion, unexplained, and written off. */
export const commonAccounts = ['revenue', 'deposits', 'promo', 'suspense', 'write_off'] as const;
export type CommonAccount = (typeof commonAccounts)[number];

/** A posting to an owner's account, and its opposite to a common account. */
export type NewTransaction = {
  /** Chosen by its purpose, so that a repeated transaction is posted once. */
  readonly transactionId: string;
  /** The id that an earlier version chose: a transaction of this owner with that id is the same one. */
  readonly formerId?: string;
  readonly kind: Exclude<TransactionKind, 'usage'>;
  /** The owner of the account that it changes. */
  readonly owner: PotOwner;
  /** The change of the owner's balance, in nano-USD; negative amounts reduce it. */
  readonly amountNanoUsd: bigint;
  readonly against: CommonAccount;
  readonly postedAtMs: number;
  /** The operator who posted it. */
  readonly actor: string;
  readonly note?: string;
  /** The call that it refunds. */
  readonly callId?: string;
};

/** `conflict`: another transaction has this id. */
export type PostResult = { readonly status: 'posted' | 'known' | 'conflict'; readonly balanceNanoUsd: bigint };

export type LedgerTransaction = {
  readonly transactionId: string;
  readonly kind: TransactionKind;
  /** Empty for a payment to a team or to the organization. */
  readonly userName: string;
  /** The account that it changed. */
  readonly accountId: string;
  readonly amountNanoUsd: bigint;
  readonly postedAtMs: number;
  /** Only for usage: the key, the team, and the day (UTC) on which its calls were accepted. */
  readonly keyId?: string;
  readonly teamId?: string;
  readonly day?: string;
  readonly callId?: string;
  readonly actor?: string;
  readonly note?: string;
};

/** The postings to an account in a span of time: `fromMs` belongs to it, `toMs` does not. */
export type StatementSpan = { readonly owner: PotOwner; readonly fromMs: number; readonly toMs: number };

/** What happened to an account in a span, in nano-USD: opening and all sums together are closing. */
export type StatementRecord = {
  readonly openingNanoUsd: bigint;
  readonly closingNanoUsd: bigint;
  /** The sum of each kind that occurs. */
  readonly sums: readonly { readonly kind: TransactionKind; readonly count: number; readonly amountNanoUsd: bigint }[];
  /** The usage of each day (UTC) on which its calls were accepted, oldest first. */
  readonly usage: readonly { readonly day: string; readonly amountNanoUsd: bigint }[];
  /** All transactions but usage, oldest first, up to the highest length of a list. */
  readonly postings: readonly LedgerTransaction[];
};

/** An owner's account, in nano-USD. */
type OwnerBalance = {
  readonly owner: PotOwner;
  readonly balanceNanoUsd: bigint;
  /** The part of the balance that processes have leased and not booked. */
  readonly leasedNanoUsd: bigint;
  /** The holds of unfinished videos. */
  readonly videosNanoUsd: bigint;
};

/** Limit and use of a pot, in nano-USD. */
type PotReport = {
  readonly pot: Pot;
  /** The limit of the pot, or the balance; undefined if nothing limits it. */
  readonly limitNanoUsd: bigint | undefined;
  /** The booked spend; 0 for a balance, which is already reduced by it. */
  readonly spentNanoUsd: bigint;
  readonly leasedNanoUsd: bigint;
  readonly videosNanoUsd: bigint;
};

/** A key, and the user who owns it. */
export type KeyOfUser = { readonly userName: string; readonly keyId: string };

/** The lease of a process. */
type NodeLease = {
  readonly nodeId: string;
  readonly potId: string;
  /** Empty for a pot of a team or of the organization. */
  readonly userName: string;
  readonly leasedNanoUsd: bigint;
  /** When the process last renewed; undefined after its release. */
  readonly seenAtMs: number | undefined;
};

/** An inconsistency in the books. `accountId` is absent if it is not in the account of an owner of pots. */
export type BookProblem = { readonly accountId?: string; readonly what: string };

/** The position of a verification: the part of the books, and the last row that was checked. */
export type VerifyCursor = {
  readonly part: 'transactions' | 'postings' | 'spending' | 'groups' | 'leases';
  readonly after: readonly string[];
};

/** The result of one slice. `next` is undefined at the end of the books. */
export type VerifySlice = { readonly checked: number; readonly problems: readonly BookProblem[]; readonly next: VerifyCursor | undefined };

/** The store that keeps the accounts. All methods reject with the store's error. */
export type CreditBooks = {
  /** Posts a transaction once. Running processes see it within about a second. */
  readonly postTransaction: (transaction: NewTransaction, change: Change) => Promise<PostResult>;
  /** Balances of the organization, teams and users, in this order, or of one of them. */
  readonly readBalances: (filter: { readonly owner?: PotOwner; readonly limit: number }) => Promise<readonly OwnerBalance[]>;
  readonly readPots: (pots: readonly Pot[]) => Promise<readonly PotReport[]>;
  /** What keys have spent in one period, such as `2026-11`: by the ids of those that have spent something. */
  readonly readKeySpend: (keys: readonly KeyOfUser[], span: string) => Promise<ReadonlyMap<string, bigint>>;
  /** Newest first; after a given one, if a page of the list goes on. */
  readonly listTransactions: (filter: {
    readonly owner: PotOwner;
    readonly after?: Pick<LedgerTransaction, 'postedAtMs' | 'transactionId'>;
    readonly limit: number;
  }) => Promise<readonly LedgerTransaction[]>;
  readonly readStatement: (span: StatementSpan) => Promise<StatementRecord>;
  readonly listLeases: () => Promise<readonly NodeLease[]>;
  /** Verifies the next slice of the books, with at most `limit` rows. */
  readonly verifyBooks: (slice: { readonly cursor: VerifyCursor; readonly limit: number }) => Promise<VerifySlice>;
};

/** The beginning of a full verification. */
export const verifyStart: VerifyCursor = { part: 'transactions', after: [''] };

/** The id of a transaction for an owner and a reference: two owners may have the same reference. */
export function transactionIdOf({
  kind,
  owner,
  reference,
}: Pick<NewTransaction, 'kind' | 'owner'> & { readonly reference: string }): string {
  const name = owner.level === 'user' ? encodeURIComponent(owner.userName) : accountIdOf(owner);
  return `${kind}/${name}/${reference}`;
}
