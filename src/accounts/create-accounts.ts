import type { Clock } from '../platform/clock.ts';
import { type AccessLimits, type AccessLimitsChange, changeLimits } from './access-limits.ts';
import { AccountsError } from './accounts-error.ts';
import type { AccountsStore } from './accounts-store.ts';
import { generateId, generateSecret } from './api-key-format.ts';
import type { RandomBytes } from './api-key-format.ts';
import type { ApiKey, StoredApiKey, User } from './api-key.ts';
import { type BillingTokens, createBillingTokens } from './billing-tokens.ts';
import type { KeyDisconnectPolicy } from './disconnect-policy.ts';
import { hashSecret } from './hash-secret.ts';
import { parseName } from './parse-name.ts';
import { parseChosenSecret } from './parse-chosen-secret.ts';

/** A secret is given out here, once; it cannot be read back. */
type CreatedApiKey = { readonly key: ApiKey; readonly secret: string };

/** `strictTranslation` is false when absent, and what is stored is kept for as long as configured. */
type WantedApiKey = {
  readonly userName: string;
  readonly name: string;
  readonly strictTranslation?: boolean;
  readonly responseRetentionDays?: number | undefined;
  readonly disconnectPolicy?: KeyDisconnectPolicy | undefined;
  readonly limits?: AccessLimitsChange;
};

/** What an operator chose for a key. */
type KeyOptions = {
  readonly strictTranslation: boolean;
  readonly responseRetentionDays: number | undefined;
  readonly disconnectPolicy: KeyDisconnectPolicy | undefined;
  readonly limits: AccessLimits | undefined;
};

/** Which key is meant: by its id, or by its owner and name. */
type KeyReference = { readonly id: string } | { readonly userName: string; readonly name: string };

/**
 * Managing users, API keys and billing tokens. Methods reject with AccountsError when the caller is wrong and with the store's error when the
 * store is. Names follow the rules of parseName.
 */
export type Accounts = BillingTokens & {
  /** Creates a key, and its user when there is none of that name. `duplicate_name` when the user has a key of that name. */
  readonly createApiKey: (key: WantedApiKey) => Promise<CreatedApiKey>;
  /**
   * Makes sure that the given secret opens as this key, for a secret that the operator configured. The same secret again is the same key. A
   * key of this name with another secret is replaced: the old secret ends, as it does where the configuration names only the new one.
   * Secrets are 8 to 256 printable ASCII characters without spaces. `secret_in_use` when it opens another key. What the configuration names
   * wins over a deletion, but a key that was disabled stays disabled, and a replaced key hands its options on.
   */
  readonly ensureApiKeyWithSecret: (key: { readonly userName: string; readonly name: string; readonly secret: string }) => Promise<ApiKey>;
  /** Keys that are not deleted, oldest first. */
  readonly listApiKeys: (filter?: { readonly userName?: string }) => Promise<readonly ApiKey[]>;
  readonly findApiKey: (reference: KeyReference) => Promise<ApiKey | undefined>;
  /** Takes effect in every process within about a second. False when there is no such key. */
  readonly disableApiKey: (keyId: string) => Promise<boolean>;
  readonly enableApiKey: (keyId: string) => Promise<boolean>;
  /** Chooses whether the key's calls are translated strictly (see ApiKey). Takes effect as fast. False when there is no such key. */
  readonly setStrictTranslation: (keyId: string, strictTranslation: boolean) => Promise<boolean>;
  /** For how many days what is stored for the key from now on is kept: 0 for nothing at all, undefined for as long as configured. False when there is no such key. */
  readonly setResponseRetention: (keyId: string, days: number | undefined) => Promise<boolean>;
  /** Chooses what is done when clients of the key leave; undefined: as configured. False when there is no such key. */
  readonly setDisconnectPolicy: (keyId: string, policy: KeyDisconnectPolicy | undefined) => Promise<boolean>;
  /** Changes what the key may use. Takes effect as fast. False when there is no such key. */
  readonly changeKeyLimits: (keyId: string, change: AccessLimitsChange) => Promise<boolean>;
  /** Users, oldest first. */
  readonly listUsers: () => Promise<readonly User[]>;
  /** Changes what all keys of a user may use together. Takes effect as fast. False when there is no user of that name. */
  readonly changeUserLimits: (userName: string, change: AccessLimitsChange) => Promise<boolean>;
  /** Its secret stops opening and its name is free; booked calls keep the name. False when there is no such key. */
  readonly deleteApiKey: (keyId: string) => Promise<boolean>;
};

export type AccountsDependencies = { readonly store: AccountsStore; readonly clock: Clock; readonly random: RandomBytes };

/** Several processes that start at once with one configuration get in each other's way for a round at most. */
const ensureAttemptsMax = 5;
const userIdLength = 16;
const idLength = 10;

export function createAccounts(dependencies: AccountsDependencies): Accounts {
  const { store, clock } = dependencies;
  return {
    createApiKey: (key) => createApiKey(dependencies, key),
    ensureApiKeyWithSecret: (key) => ensureApiKeyWithSecret(dependencies, key),
    listApiKeys: async (filter = {}) => {
      const keys = await store.listApiKeys();
      const userName = filter.userName?.normalize('NFC');
      return keys.filter((key) => userName === undefined || key.userName === userName).map(withoutHash);
    },
    findApiKey: async (reference) => {
      const key = (await store.listApiKeys()).find((candidate) => matches(candidate, reference));
      return key === undefined ? undefined : withoutHash(key);
    },
    disableApiKey: (keyId) => store.setApiKeyDisabled(keyId, clock.nowMs()),
    enableApiKey: (keyId) => store.setApiKeyDisabled(keyId, undefined),
    setStrictTranslation: (keyId, strictTranslation) => store.setApiKeyStrictTranslation(keyId, strictTranslation),
    setResponseRetention: (keyId, days) => store.setApiKeyRetention(keyId, days),
    setDisconnectPolicy: (keyId, policy) => store.setApiKeyDisconnect(keyId, policy),
    changeKeyLimits: (keyId, change) => store.changeApiKeyLimits(keyId, change),
    listUsers: () => store.listUsers(),
    changeUserLimits: (userName, change) => store.changeUserLimits(userName.normalize('NFC'), change),
    deleteApiKey: (keyId) => store.deleteApiKey(keyId, clock.nowMs()),
    ...createBillingTokens(dependencies),
  };
}

async function createApiKey(dependencies: AccountsDependencies, wanted: WantedApiKey): Promise<CreatedApiKey> {
  const userName = parseName('user name', wanted.userName);
  const name = parseName('key name', wanted.name);
  const { id, secret } = generateSecret('sk-weir', dependencies.random);
  const { strictTranslation = false, responseRetentionDays, disconnectPolicy } = wanted;
  const limits = changeLimits(undefined, wanted.limits ?? {});
  const options = { strictTranslation, responseRetentionDays, disconnectPolicy, limits };
  const key = await insertApiKey(dependencies, { id, userName, name, secret, ...options });
  if (key === undefined) throw new AccountsError('duplicate_name', `The user ${userName} already has a key named ${name}.`);
  return { key, secret };
}

async function ensureApiKeyWithSecret(
  dependencies: AccountsDependencies,
  wanted: { userName: string; name: string; secret: string },
): Promise<ApiKey> {
  const { store, clock, random } = dependencies;
  const userName = parseName('user name', wanted.userName);
  const name = parseName('key name', wanted.name);
  const secret = parseChosenSecret(wanted.secret);
  const hash = hashSecret(await store.pepper(), secret);
  let options: KeyOptions = { strictTranslation: false, responseRetentionDays: undefined, disconnectPolicy: undefined, limits: undefined };
  for (let attempt = 0; attempt < ensureAttemptsMax; attempt += 1) {
    const existing = await store.findApiKeyByHash(hash);
    if (existing !== undefined) {
      if (existing.userName === userName && existing.name === name) return withoutHash(existing);
      throw new AccountsError('secret_in_use', `This secret already opens the key ${existing.name} of the user ${existing.userName}.`);
    }
    const inserted = await insertApiKey(dependencies, { id: generateId(idLength, random), userName, name, secret, ...options });
    if (inserted !== undefined) return inserted;
    const namesake = (await store.listApiKeys()).find((key) => matches(key, { userName, name }));
    if (namesake === undefined || namesake.hash === hash) continue;
    options = {
      strictTranslation: namesake.strictTranslation,
      responseRetentionDays: namesake.responseRetentionDays,
      disconnectPolicy: namesake.disconnectPolicy,
      limits: namesake.limits,
    };
    await store.deleteApiKey(namesake.id, clock.nowMs());
  }
  throw new AccountsError('conflict', `The key ${name} of ${userName} is being changed by other processes; try again.`);
}

/** Undefined when the store refuses: the name or the secret is taken. */
async function insertApiKey(
  { store, clock, random }: AccountsDependencies,
  wanted: { id: string; userName: string; name: string; secret: string } & KeyOptions,
): Promise<ApiKey | undefined> {
  const createdAtMs = clock.nowMs();
  const user = await store.ensureUser({ id: generateId(userIdLength, random), name: wanted.userName, createdAtMs });
  const key: ApiKey = {
    id: wanted.id,
    userId: user.id,
    userName: user.name,
    name: wanted.name,
    hint: createHint(wanted.secret),
    createdAtMs,
    strictTranslation: wanted.strictTranslation,
    ...(wanted.responseRetentionDays === undefined ? {} : { responseRetentionDays: wanted.responseRetentionDays }),
    ...(wanted.disconnectPolicy === undefined ? {} : { disconnectPolicy: wanted.disconnectPolicy }),
    ...(wanted.limits === undefined ? {} : { limits: wanted.limits }),
    ...(user.limits === undefined ? {} : { userLimits: user.limits }),
  };
  const hash = hashSecret(await store.pepper(), wanted.secret);
  return (await store.insertApiKey({ ...key, hash })) ? key : undefined;
}

/** Four characters of a generated secret are of its checksum and give nothing away. Of a short chosen one, four would be too many. */
function createHint(secret: string): string {
  return secret.slice(secret.length < 16 ? -2 : -4);
}

function matches(key: ApiKey, reference: KeyReference): boolean {
  if ('id' in reference) return key.id === reference.id;
  return key.userName === reference.userName.normalize('NFC') && key.name === reference.name.normalize('NFC');
}

function withoutHash({ hash: _hash, ...key }: StoredApiKey): ApiKey {
  return key;
}
