import type { AccessLimits } from './access-limits.ts';
import type { KeyDisconnectPolicy } from './disconnect-policy.ts';

/** Who makes a call: a key and the user who owns it. What the contract calls a token is this key; its `tokenName` is `name`. */
export type ApiKey = {
  readonly id: string;
  readonly userId: string;
  /** The owner's login name: the contract's `userName`. */
  readonly userName: string;
  /** Unique among the owner's keys: the contract's `tokenName`. */
  readonly name: string;
  /** The last characters of the secret, to recognise a key in a list. */
  readonly hint: string;
  readonly createdAtMs: number;
  readonly disabledAtMs?: number;
  /** Whether calls that another vendor's interface cannot carry whole are refused, instead of served without what it lacks. */
  readonly strictTranslation: boolean;
  /** For how many days what is stored for this key is kept; 0: nothing is stored. Undefined: as configured for all. */
  readonly responseRetentionDays?: number;
  /** What is done when a client of this key leaves a call: see DisconnectPolicy of the ledger. Undefined: as configured for all. */
  readonly disconnectPolicy?: KeyDisconnectPolicy;
  /** What this key may use. */
  readonly limits?: AccessLimits;
  /** What all keys of its owner may use together. */
  readonly userLimits?: AccessLimits;
};

/** A key as the store keeps it. The secret itself exists only at the moment of its creation. */
export type StoredApiKey = ApiKey & { readonly hash: string };

export type User = { readonly id: string; readonly name: string; readonly createdAtMs: number; readonly limits?: AccessLimits };

/** A credential of the monitor service: the contract's BILLING_TOKEN. */
export type BillingToken = {
  readonly id: string;
  readonly name: string;
  /** When set, the token sees only this user's calls; otherwise it sees all. */
  readonly userName?: string;
  readonly createdAtMs: number;
  /** From then on it opens nothing. */
  readonly expiresAtMs?: number;
  /** Until when the secret that was replaced last still opens, beside the present one. */
  readonly previousOpensUntilMs?: number;
  /** When it was used last, to about a minute. */
  readonly lastUsedAtMs?: number;
};

/** A token that a secret was looked up for. Whether the secret still opens it depends on the time, which a store does not know. */
export type FoundBillingToken = BillingToken & {
  /** Set when the secret is the one before the present one. */
  readonly byPreviousSecret?: true;
};
