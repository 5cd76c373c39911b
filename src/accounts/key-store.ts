import type { Change } from '../audit/change-author.ts';
import type { AccessLimitsChange } from './access-limits.ts';
import type { ApiKey } from './api-key.ts';
import type { CallTags } from './call-tags.ts';
import type { ContentMode } from './content-mode.ts';
import type { KeyDisconnectPolicy } from './disconnect-policy.ts';

/** A key as lists show it. */
export type ListedApiKey = ApiKey & {
  /** When it was last used, to about a minute. Undefined: never, or before this was recorded. */
  readonly lastUsedAtMs?: number;
};

/** Which keys a list has. Deleted keys are in no list. */
export type KeyQuery = {
  /** The users whose keys may be seen: all, or the names of some. */
  readonly users: 'all' | readonly string[];
  readonly userName?: string;
  readonly ids?: readonly string[];
  /** Keys that were not used from this moment on. A key that was never used counts from its creation. */
  readonly unusedSinceMs?: number;
  /** Keys that expire before this moment by their own limits or those of their owner. Includes expired ones. */
  readonly expiresBeforeMs?: number;
  /** Leaves out keys that expired before this moment. */
  readonly expiresFromMs?: number;
  readonly isEnabled?: boolean;
  /** A part of the name of the key, of its user or of its secret's end, in whatever case. */
  readonly text?: string;
  readonly order: 'oldest' | 'newest';
  /** The page begins after this key. */
  readonly after?: { readonly createdAtMs: number; readonly id: string };
  /** The most keys to return, at least 1. */
  readonly limit: number;
};

/** New values of some options of a key. `null` removes one; a missing member leaves it unchanged. */
export type KeyEdit = {
  readonly disabledAtMs?: number | null;
  readonly strictTranslation?: boolean;
  readonly responseRetentionDays?: number | null;
  readonly disconnectPolicy?: KeyDisconnectPolicy | null;
  readonly content?: ContentMode | null;
  readonly limits?: AccessLimitsChange;
  /** Replaces all tags. */
  readonly tags?: CallTags;
};

/** The part of the store for lists of keys, changes of several options, new secrets, and the last use. */
export type KeyStore = {
  /** One page of keys, by creation and then by id. */
  readonly queryApiKeys: (query: KeyQuery) => Promise<readonly ListedApiKey[]>;
  /** Changes several options of a key at once. Returns false if there is no such key. */
  readonly editApiKey: (keyId: string, edit: KeyEdit, change: Change) => Promise<boolean>;
  /**
   * Replaces the secret of a key. The present secret becomes the previous one, which opens the key until
   * `previousOpensUntilMs`; the one before it is removed. Returns false if there is no such key or the hash exists.
   */
  readonly rotateApiKey: (
    rotation: { readonly keyId: string; readonly hash: string; readonly hint: string; readonly previousOpensUntilMs: number },
    change: Change,
  ) => Promise<boolean>;
  /** How many keys a user has, and how many of them are enabled. Deleted ones do not count. */
  readonly countApiKeys: (userName: string) => Promise<{ readonly all: number; readonly enabled: number }>;
  /**
   * Records that keys were used. A key whose recorded use is less than a minute older, or that is deleted, is left
   * unchanged.
   */
  readonly noteApiKeyUses: (keyIds: readonly string[], usedAtMs: number) => Promise<void>;
};
