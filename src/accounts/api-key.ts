import type { AccessLimits } from './access-limits.ts';
import type { CallTags } from './call-tags.ts';
import type { ContentMode } from './content-mode.ts';
import type { KeyDisconnectPolicy } from './disconnect-policy.ts';
import type { Team } from './team.ts';

/**
 * The caller of a request: a key and the user who owns it. The contract calls this key a token; its `tokenName` is
 * `name`.
 */
export type ApiKey = {
  readonly id: string;
  readonly userId: string;
  /** The owner's login name: the contract's `userName`. */
  readonly userName: string;
  /** Unique among the owner's keys: the contract's `tokenName`. */
  readonly name: string;
  /** The last characters of the secret, to recognise a key in a list; `jwt` if it has none. */
  readonly hint: string;
  /** The name of the issuer whose tokens are this key. Such a key has no secret. */
  readonly issuer?: string;
  readonly createdAtMs: number;
  readonly disabledAtMs?: number;
  /**
   * Whether a call is refused if the interface of another vendor cannot carry all of it. Otherwise it is served without
   * those parts.
   */
  readonly strictTranslation: boolean;
  /** How many days stored objects of this key are kept. 0 stores nothing; undefined means the configured default. */
  readonly responseRetentionDays?: number;
  /**
   * What happens to a call when its client disconnects: see DisconnectPolicy of the ledger. Undefined means the
   * configured default.
   */
  readonly disconnectPolicy?: KeyDisconnectPolicy;
  /** The limits of this key. */
  readonly limits?: AccessLimits;
  /** The limits that all keys of its owner share. */
  readonly userLimits?: AccessLimits;
  /** Until this moment, the previous secret opens the key too. */
  readonly previousOpensUntilMs?: number;
  /** The team of its owner, and the limits that all users of the team share. */
  readonly team?: Pick<Team, 'id' | 'name' | 'limits' | 'content'>;
  /** The limits that all keys share. */
  readonly organizationLimits?: AccessLimits;
  /** The tags of all its calls; those of a request with the same names are ignored. Absent: none. */
  readonly tags?: CallTags;
  /** How much of the content of its calls is recorded. Absent: as its team says. */
  readonly content?: ContentMode;
};

/** A key as the store keeps it. The secret exists only at the moment of its creation. */
export type StoredApiKey = ApiKey & { readonly hash: string; readonly previousHash?: string };

/** A key without the hashes of its secrets. */
export function withoutHashes({ hash: _hash, previousHash: _previous, ...key }: StoredApiKey): ApiKey {
  return key;
}

export type User = {
  readonly id: string;
  readonly name: string;
  readonly createdAtMs: number;
  readonly limits?: AccessLimits;
  /** The name of its team; absent without one. */
  readonly team?: string;
};

/** A credential of the monitor service: the contract's BILLING_TOKEN. */
export type BillingToken = {
  readonly id: string;
  readonly name: string;
  /** When set, the token sees only this user's calls; otherwise it sees all. */
  readonly userName?: string;
  readonly createdAtMs: number;
  /** The token is refused from this moment on. */
  readonly expiresAtMs?: number;
  /** Until this moment, the previous secret opens the token too. */
  readonly previousOpensUntilMs?: number;
  /** When it was last used, to about a minute. */
  readonly lastUsedAtMs?: number;
};

/**
 * A token that was found by the hash of a secret. Whether the secret still opens it depends on the time, which a store
 * does not know.
 */
export type FoundBillingToken = BillingToken & {
  /** Set if the secret is the previous one. */
  readonly byPreviousSecret?: true;
};
