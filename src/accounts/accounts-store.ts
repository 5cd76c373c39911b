import type { Change } from '../audit/change-author.ts';
import type { KeyDisconnectPolicy } from './disconnect-policy.ts';
import type { AccessLimitsChange } from './access-limits.ts';
import type { StoredApiKey, User } from './api-key.ts';
import type { BillingTokenStore } from './billing-token-store.ts';
import type { CallTags } from './call-tags.ts';
import type { KeyStore } from './key-store.ts';
import type { TeamStore } from './team-store.ts';
import type { UserQuery } from './user-query.ts';

type PartStores = BillingTokenStore & KeyStore & TeamStore;

/** The keys that follow another, oldest first. */
export type KeyPage = { readonly after?: { readonly createdAtMs: number; readonly id: string } | undefined; readonly limit: number };

/**
 * The store that accounts need. Every method is one transaction. Names and ids are validated before the call. A method
 * with a `Change` also writes the row of the audit log, unless nothing changed.
 */
export type AccountsStore = PartStores & {
  /**
   * A random value, created once per database. Secrets are hashed with it, so that a copied hash is useless elsewhere.
   */
  readonly pepper: () => Promise<string>;
  /** Returns the user of that name, creating it if there is none. */
  readonly ensureUser: (user: User, change: Change) => Promise<User>;
  /** All users, oldest first. */
  readonly listUsers: () => Promise<readonly User[]>;
  /** Some users, oldest first. */
  readonly queryUsers: (query: UserQuery) => Promise<readonly User[]>;
  /** Changes the limits that all keys of a user share. Returns false if there is no user of that name. */
  readonly changeUserLimits: (userName: string, limits: AccessLimitsChange, change: Change) => Promise<boolean>;
  /**
   * Does not write the limits of the owner, its team and the organization, which belong to them. Returns false and
   * changes nothing if the user already has a key of that name or the hash exists.
   */
  readonly insertApiKey: (key: StoredApiKey, change: Change) => Promise<boolean>;
  /** All keys that are not deleted, disabled ones included, oldest first; or a page of them. */
  readonly listApiKeys: (page?: KeyPage) => Promise<readonly StoredApiKey[]>;
  /** Those of them that have limits of their own, which may be few of very many. */
  readonly listLimitedApiKeys: () => Promise<readonly StoredApiKey[]>;
  /**
   * The key with this hash of its present secret, or of its previous one, whether or not that still opens it. A present
   * secret comes first.
   */
  readonly findApiKeyByHash: (hash: string) => Promise<StoredApiKey | undefined>;
  /** Disables the key, or enables it again with undefined. Returns false if there is no such key. */
  readonly setApiKeyDisabled: (keyId: string, disabledAtMs: number | undefined, change: Change) => Promise<boolean>;
  /** Returns false when there is no such key. */
  readonly setApiKeyStrictTranslation: (keyId: string, strictTranslation: boolean, change: Change) => Promise<boolean>;
  /** Undefined means the configured default. Returns false if there is no such key. */
  readonly setApiKeyDisconnect: (keyId: string, policy: KeyDisconnectPolicy | undefined, change: Change) => Promise<boolean>;
  readonly setApiKeyRetention: (keyId: string, responseRetentionDays: number | undefined, change: Change) => Promise<boolean>;
  /** Returns false when there is no such key. */
  readonly changeApiKeyLimits: (keyId: string, limits: AccessLimitsChange, change: Change) => Promise<boolean>;
  /** Replaces the tags of all calls of the key; none for an empty set. Returns false when there is no such key. */
  readonly setApiKeyTags: (keyId: string, tags: CallTags, change: Change) => Promise<boolean>;
  /**
   * Removes the key from every list and look-up at the time of the change; booked calls keep its name. Returns false if
   * there is no such key.
   */
  readonly deleteApiKey: (keyId: string, change: Change) => Promise<boolean>;
  /**
   * A number that grows whenever any process creates, changes or deletes a key, moves a user to another team, or
   * changes the limits of a user, a team or the organization.
   */
  readonly keysVersion: () => Promise<number>;
};
