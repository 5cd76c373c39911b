import type { Pot } from './pots.ts';

/** What a transaction is for. `usage` comes with calls; the others an operator posts. */
export type TransactionKind = 'usage' | 'top_up' | 'promo' | 'correction' | 'refund' | 'write_off';

/** Accounts that are nobody's: what was earned, paid in, given away, not explained, and given up. */
export const commonAccounts = ['revenue', 'deposits', 'promo', 'suspense', 'write_off'] as const;
export type CommonAccount = (typeof commonAccounts)[number];

/** A posting to a user's account, and its opposite to a common one. */
export type NewTransaction = {
  /** Chosen by what it is for, so that posting it twice posts it once. */
  readonly transactionId: string;
  /** The id that an earlier version chose: a transaction of this user under it is the same one. */
  readonly formerId?: string;
  readonly kind: Exclude<TransactionKind, 'usage'>;
  readonly userName: string;
  /** What it adds to the user's balance, in nano-USD; below 0 it takes. */
  readonly amountNanoUsd: bigint;
  readonly against: CommonAccount;
  readonly postedAtMs: number;
  /** Who posted it. */
  readonly actor: string;
  readonly note?: string;
  /** The call that it gives back. */
  readonly callId?: string;
};

/** `conflict`: another transaction has this id. */
export type PostResult = { readonly status: 'posted' | 'known' | 'conflict'; readonly balanceNanoUsd: bigint };

export type LedgerTransaction = {
  readonly transactionId: string;
  readonly kind: TransactionKind;
  readonly userName: string;
  readonly amountNanoUsd: bigint;
  readonly postedAtMs: number;
  /** Of usage: whose it is, and on which day (UTC) its calls were accepted. */
  readonly keyId?: string;
  readonly day?: string;
  readonly callId?: string;
  readonly actor?: string;
  readonly note?: string;
};

/** How a user's account stands, in nano-USD. */
type UserBalance = {
  readonly userName: string;
  readonly balanceNanoUsd: bigint;
  /** What processes have leased of the balance and not booked. */
  readonly leasedNanoUsd: bigint;
  /** What videos in the making hold. */
  readonly videosNanoUsd: bigint;
};

/** How a pot stands, in nano-USD. */
type PotReport = {
  readonly pot: Pot;
  /** What may be spent in all: a limit, or what is left of a balance; undefined where nothing limits it. */
  readonly limitNanoUsd: bigint | undefined;
  /** What is booked; 0 for a balance, which is less by it already. */
  readonly spentNanoUsd: bigint;
  readonly leasedNanoUsd: bigint;
  readonly videosNanoUsd: bigint;
};

/** What a process has leased. */
type NodeLease = {
  readonly nodeId: string;
  readonly potId: string;
  readonly userName: string;
  readonly leasedNanoUsd: bigint;
  /** When the process was last heard of; undefined when it has been released. */
  readonly seenAtMs: number | undefined;
};

/** Something in the books that does not add up. `userName` is absent where it is nobody's account. */
export type BookProblem = { readonly userName?: string; readonly what: string };

/** Where a verification stands: which part of the books, and behind what of it. */
export type VerifyCursor = { readonly part: 'transactions' | 'postings' | 'spending' | 'leases'; readonly after: readonly string[] };

/** What was found in one slice. `next` is undefined at the end of the books. */
export type VerifySlice = { readonly checked: number; readonly problems: readonly BookProblem[]; readonly next: VerifyCursor | undefined };

/** What keeping accounts needs of a store. All methods reject with the store's error. */
export type CreditBooks = {
  /** Posts a transaction, once. Running processes learn of it within about a second. */
  readonly postTransaction: (transaction: NewTransaction) => Promise<PostResult>;
  /** Users by name, or one. */
  readonly readBalances: (filter: { readonly userName?: string; readonly limit: number }) => Promise<readonly UserBalance[]>;
  /** @param pots all of one user */
  readonly readPots: (pots: readonly Pot[]) => Promise<readonly PotReport[]>;
  /** Newest first. */
  readonly listTransactions: (filter: { readonly userName: string; readonly limit: number }) => Promise<readonly LedgerTransaction[]>;
  readonly listLeases: () => Promise<readonly NodeLease[]>;
  /** Verifies the next part of the books, at most so many rows of it. */
  readonly verifyBooks: (slice: { readonly cursor: VerifyCursor; readonly limit: number }) => Promise<VerifySlice>;
};

/** Where verifying all begins. */
export const verifyStart: VerifyCursor = { part: 'transactions', after: [''] };

/** The id of what is posted to a user under a reference: two users may have the same one. */
export function transactionIdOf({
  kind,
  userName,
  reference,
}: Pick<NewTransaction, 'kind' | 'userName'> & { readonly reference: string }): string {
  return `${kind}/${encodeURIComponent(userName)}/${reference}`;
}

/** The account of a user. */
export function userAccountId(userName: string): string {
  return `user:${userName}`;
}
