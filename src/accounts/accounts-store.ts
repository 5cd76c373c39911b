import type { KeyDisconnectPolicy } from './disconnect-policy.ts';
import type { AccessLimitsChange } from './access-limits.ts';
import type { StoredApiKey, User } from './api-key.ts';
import type { BillingTokenStore } from './billing-token-store.ts';

/** What accounts need of a store. Every method is one transaction. Names and ids come validated. */
export type AccountsStore = BillingTokenStore & {
  /** A random value made once per database. Secrets are hashed with it, so that a copied hash is useless elsewhere. */
  readonly pepper: () => Promise<string>;
  /** Returns the user of that name, creating it if there is none. */
  readonly ensureUser: (user: User) => Promise<User>;
  /** All users, oldest first. */
  readonly listUsers: () => Promise<readonly User[]>;
  /** Changes what all keys of a user may use together. Returns false when there is no user of that name. */
  readonly changeUserLimits: (userName: string, change: AccessLimitsChange) => Promise<boolean>;
  /** Its owner's limits are the user's and not written. Returns false, changing nothing, when the user already has a living key of that name or the hash exists. */
  readonly insertApiKey: (key: StoredApiKey) => Promise<boolean>;
  /** All keys that are not deleted, disabled ones included, oldest first. */
  readonly listApiKeys: () => Promise<readonly StoredApiKey[]>;
  readonly findApiKeyByHash: (hash: string) => Promise<StoredApiKey | undefined>;
  /** Sets or lifts the disabling. Returns false when there is no such key. */
  readonly setApiKeyDisabled: (keyId: string, disabledAtMs: number | undefined) => Promise<boolean>;
  /** Returns false when there is no such key. */
  readonly setApiKeyStrictTranslation: (keyId: string, strictTranslation: boolean) => Promise<boolean>;
  /** Undefined: as configured for all. Returns false when there is no such key. */
  readonly setApiKeyDisconnect: (keyId: string, policy: KeyDisconnectPolicy | undefined) => Promise<boolean>;
  readonly setApiKeyRetention: (keyId: string, responseRetentionDays: number | undefined) => Promise<boolean>;
  /** Returns false when there is no such key. */
  readonly changeApiKeyLimits: (keyId: string, change: AccessLimitsChange) => Promise<boolean>;
  /** Removes the key from every list and look-up; booked calls keep its name. Returns false when there is no such key. */
  readonly deleteApiKey: (keyId: string, deletedAtMs: number) => Promise<boolean>;
  /** A number that grows whenever a key is created, changed or deleted, or a user's limits change, by any process. */
  readonly keysVersion: () => Promise<number>;
};
