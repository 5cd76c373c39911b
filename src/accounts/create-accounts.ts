import type { Change, ChangeAuthor } from '../audit/change-author.ts';
import type { Clock } from '../platform/clock.ts';
import { type AccessLimits, type AccessLimitsChange, changeLimits } from './access-limits.ts';
import { AccountsError } from './accounts-error.ts';
import type { AccountsStore } from './accounts-store.ts';
import { generateId, generateSecret } from './api-key-format.ts';
import type { RandomBytes } from './api-key-format.ts';
import { type ApiKey, type User, withoutHashes } from './api-key.ts';
import { type BillingTokens, createBillingTokens } from './billing-tokens.ts';
import type { ContentMode } from './content-mode.ts';
import { type CallTags, sortTags } from './call-tags.ts';
import type { KeyDisconnectPolicy } from './disconnect-policy.ts';
import { createHint } from './create-hint.ts';
import { hashDigest, hashSecret, sha256 } from './hash-secret.ts';
import { createKeyManagement, type KeyManagement } from './manage-keys.ts';
import { parseName } from './parse-name.ts';
import { parseChosenSecret } from './parse-chosen-secret.ts';
import { createTeams, type Teams } from './teams.ts';

/** The secret is returned here once and cannot be read again. */
type CreatedApiKey = { readonly key: ApiKey; readonly secret: string };

/** `strictTranslation` defaults to false, and `responseRetentionDays` to the configured value. */
type RequestedApiKey = {
  readonly userName: string;
  readonly name: string;
  readonly strictTranslation?: boolean;
  readonly responseRetentionDays?: number | undefined;
  readonly disconnectPolicy?: KeyDisconnectPolicy | undefined;
  readonly content?: ContentMode | undefined;
  readonly limits?: AccessLimitsChange;
  readonly tags?: CallTags;
};

/**
 * A key that another gateway made: its secret, or the SHA-256 digest of it in lower-case hexadecimal, with the last
 * characters of the secret as far as they are known.
 */
type ImportedApiKey = {
  readonly userName: string;
  readonly name: string;
  readonly secret: string | { readonly sha256: string; readonly hint: string };
  readonly limits?: AccessLimitsChange;
  readonly tags?: CallTags;
};

/** Options of a key that an operator set. */
type KeyOptions = {
  readonly strictTranslation: boolean;
  readonly responseRetentionDays: number | undefined;
  readonly disconnectPolicy: KeyDisconnectPolicy | undefined;
  readonly content: ContentMode | undefined;
  readonly limits: AccessLimits | undefined;
  readonly tags: CallTags | undefined;
};

/** Identifies a key by its id, or by its owner and name. */
type KeyReference = { readonly id: string } | { readonly userName: string; readonly name: string };

type Parts = BillingTokens & KeyManagement & Teams;

/**
 * Manages users, teams, API keys and billing tokens. Methods reject with AccountsError for a mistake of the caller, and
 * with the error of the store if the store fails. Names follow the rules of parseName.
 */
export type Accounts = Parts & {
  /**
   * Creates a key, and its user if there is none of that name. Rejects with `duplicate_name` if the user has a key of
   * that name.
   */
  readonly createApiKey: (key: RequestedApiKey) => Promise<CreatedApiKey>;
  /**
   * Creates a key that the secret of another gateway opens, and its user if there is none of that name. Rejects with
   * `duplicate_name` if the user has a key of that name, and with `secret_in_use` if the secret opens another key.
   */
  readonly importApiKey: (key: ImportedApiKey) => Promise<ApiKey>;
  /**
   * Makes sure that a secret from the configuration opens this key. A call with the same secret changes nothing. If a
   * key of this name has another secret, it is replaced: the old secret ends, and the new key keeps the options.
   * Secrets are 8 to 256 printable ASCII characters without spaces. Rejects with `secret_in_use` if the secret opens
   * another key. The configuration restores a deleted key, but a disabled key stays disabled.
   */
  readonly ensureApiKeyWithSecret: (key: { readonly userName: string; readonly name: string; readonly secret: string }) => Promise<ApiKey>;
  readonly findApiKey: (reference: KeyReference) => Promise<ApiKey | undefined>;
  /** Takes effect in every process within about a second. False if there is no such key. */
  readonly disableApiKey: (keyId: string) => Promise<boolean>;
  readonly enableApiKey: (keyId: string) => Promise<boolean>;
  /**
   * Sets whether the key's calls are translated strictly (see ApiKey). Takes effect within about a second. False if
   * there is no such key.
   */
  readonly setStrictTranslation: (keyId: string, strictTranslation: boolean) => Promise<boolean>;
  /**
   * Sets how many days objects that are stored from now on are kept: 0 stores nothing, undefined means as configured.
   * False if there is no such key.
   */
  readonly setResponseRetention: (keyId: string, days: number | undefined) => Promise<boolean>;
  /**
   * Sets what happens when a client of the key disconnects; undefined means as configured. False if there is no such
   * key.
   */
  readonly setDisconnectPolicy: (keyId: string, policy: KeyDisconnectPolicy | undefined) => Promise<boolean>;
  /**
   * Sets how much of the content of the key's calls is recorded; undefined means as its team says. Takes effect within
   * about a second. False if there is no such key.
   */
  readonly setKeyContent: (keyId: string, content: ContentMode | undefined) => Promise<boolean>;
  /** Changes the limits of the key. Takes effect within about a second. False if there is no such key. */
  readonly changeKeyLimits: (keyId: string, change: AccessLimitsChange) => Promise<boolean>;
  /** Replaces the tags of all calls of the key; none for an empty set. False if there is no such key. */
  readonly setKeyTags: (keyId: string, tags: CallTags) => Promise<boolean>;
  /** Creates a user. Rejects with `duplicate_name` if there is one of that name. */
  readonly createUser: (user: { readonly name: string }) => Promise<User>;
  /** Users, oldest first. */
  readonly listUsers: () => Promise<readonly User[]>;
  /**
   * Changes the limits that all keys of a user share. Takes effect within about a second. False if there is no user of
   * that name.
   */
  readonly changeUserLimits: (userName: string, change: AccessLimitsChange) => Promise<boolean>;
  /** Ends the secret of the key and frees its name; booked calls keep the name. False if there is no such key. */
  readonly deleteApiKey: (keyId: string) => Promise<boolean>;
};

export type AccountsDependencies = {
  readonly store: AccountsStore;
  readonly clock: Clock;
  readonly random: RandomBytes;
  /** The author of the changes, for the audit log. */
  readonly author: ChangeAuthor;
};

const changeNow = ({ author, clock }: AccountsDependencies): Change => ({ ...author, atMs: clock.nowMs() });

/** Several processes that start at once with the same configuration collide in at most one round. */
const ensureAttemptsMax = 5;
const userIdLength = 16;
const idLength = 10;

export function createAccounts(dependencies: AccountsDependencies): Accounts {
  const { store, clock } = dependencies;
  const change = (): Change => changeNow(dependencies);
  return {
    createApiKey: (key) => createApiKey(dependencies, key),
    importApiKey: (key) => importApiKey(dependencies, key),
    ensureApiKeyWithSecret: (key) => ensureApiKeyWithSecret(dependencies, key),
    findApiKey: async (reference) => {
      const key = (await store.listApiKeys()).find((candidate) => matches(candidate, reference));
      return key === undefined ? undefined : withoutHashes(key);
    },
    disableApiKey: (keyId) => store.setApiKeyDisabled(keyId, clock.nowMs(), change()),
    enableApiKey: (keyId) => store.setApiKeyDisabled(keyId, undefined, change()),
    setStrictTranslation: (keyId, strictTranslation) => store.setApiKeyStrictTranslation(keyId, strictTranslation, change()),
    setResponseRetention: (keyId, days) => store.setApiKeyRetention(keyId, days, change()),
    setDisconnectPolicy: (keyId, policy) => store.setApiKeyDisconnect(keyId, policy, change()),
    setKeyContent: (keyId, content) => store.editApiKey(keyId, { content: content ?? null }, change()),
    changeKeyLimits: (keyId, limits) => store.changeApiKeyLimits(keyId, limits, change()),
    setKeyTags: (keyId, tags) => store.setApiKeyTags(keyId, sortTags(tags), change()),
    createUser: (user) => createUser(dependencies, user),
    listUsers: () => store.listUsers(),
    changeUserLimits: (userName, limits) => store.changeUserLimits(userName.normalize('NFC'), limits, change()),
    deleteApiKey: (keyId) => store.deleteApiKey(keyId, change()),
    ...createKeyManagement(dependencies),
    ...createTeams(dependencies),
    ...createBillingTokens(dependencies),
  };
}

async function createUser({ store, clock, random, author }: AccountsDependencies, requested: { readonly name: string }): Promise<User> {
  const name = parseName('user name', requested.name);
  const createdAtMs = clock.nowMs();
  const user = { id: generateId(userIdLength, random), name, createdAtMs };
  const stored = await store.ensureUser(user, { ...author, atMs: createdAtMs });
  if (stored.id === user.id) return stored;
  throw new AccountsError('duplicate_name', `There is already a user named ${name}.`);
}

async function createApiKey(dependencies: AccountsDependencies, requested: RequestedApiKey): Promise<CreatedApiKey> {
  const userName = parseName('user name', requested.userName);
  const name = parseName('key name', requested.name);
  const { id, secret } = generateSecret('sk-weir', dependencies.random);
  const { strictTranslation = false, responseRetentionDays, disconnectPolicy, content } = requested;
  const limits = changeLimits(undefined, requested.limits ?? {});
  const options = { strictTranslation, responseRetentionDays, disconnectPolicy, content, limits, tags: requested.tags };
  const hash = hashSecret(await dependencies.store.pepper(), secret);
  const key = await insertApiKey(dependencies, { id, userName, name, hash, hint: createHint(secret), ...options });
  if (key === undefined) throw new AccountsError('duplicate_name', `The user ${userName} already has a key named ${name}.`);
  return { key, secret };
}

async function importApiKey(dependencies: AccountsDependencies, requested: ImportedApiKey): Promise<ApiKey> {
  const { store, random } = dependencies;
  const userName = parseName('user name', requested.userName);
  const name = parseName('key name', requested.name);
  const pepper = await store.pepper();
  const { hash, hint } =
    typeof requested.secret === 'string'
      ? { hash: hashSecret(pepper, parseChosenSecret(requested.secret)), hint: createHint(requested.secret) }
      : { hash: hashDigest(pepper, requested.secret.sha256), hint: requested.secret.hint };
  const digest = typeof requested.secret === 'string' ? hashDigest(pepper, sha256(requested.secret)) : hash;
  const holder = (await store.findApiKeyByHash(hash)) ?? (await store.findApiKeyByHash(digest));
  if (holder !== undefined) throw new AccountsError('secret_in_use', describeHolder(holder));
  const limits = changeLimits(undefined, requested.limits ?? {});
  const options = { ...noOptions, limits, tags: requested.tags };
  const key = await insertApiKey(dependencies, { id: generateId(idLength, random), userName, name, hash, hint, ...options });
  if (key !== undefined) return key;
  throw new AccountsError('duplicate_name', `The user ${userName} already has a key named ${name}.`);
}

const describeHolder = ({ name, userName }: ApiKey): string => `This secret already opens the key ${name} of the user ${userName}.`;

const noOptions: KeyOptions = {
  strictTranslation: false,
  responseRetentionDays: undefined,
  disconnectPolicy: undefined,
  content: undefined,
  limits: undefined,
  tags: undefined,
};

async function ensureApiKeyWithSecret(
  dependencies: AccountsDependencies,
  requested: { userName: string; name: string; secret: string },
): Promise<ApiKey> {
  const { store, random } = dependencies;
  const userName = parseName('user name', requested.userName);
  const name = parseName('key name', requested.name);
  const secret = parseChosenSecret(requested.secret);
  const hash = hashSecret(await store.pepper(), secret);
  const hint = createHint(secret);
  let options: KeyOptions = noOptions;
  for (let attempt = 0; attempt < ensureAttemptsMax; attempt += 1) {
    const existing = await store.findApiKeyByHash(hash);
    if (existing !== undefined) {
      const isPresent = existing.hash === hash;
      const isSame = existing.userName === userName && existing.name === name;
      if (isPresent && isSame) return withoutHashes(existing);
      // The previous secret of another key is in use until it ends. That of this key becomes its present one again.
      const isInUse = isPresent || (!isSame && (existing.previousOpensUntilMs ?? 0) > dependencies.clock.nowMs());
      if (isInUse) throw new AccountsError('secret_in_use', describeHolder(existing));
    }
    const inserted = await insertApiKey(dependencies, { id: generateId(idLength, random), userName, name, hash, hint, ...options });
    if (inserted !== undefined) return inserted;
    const namesake = (await store.listApiKeys()).find((key) => matches(key, { userName, name }));
    if (namesake === undefined || namesake.hash === hash) continue;
    options = {
      strictTranslation: namesake.strictTranslation,
      responseRetentionDays: namesake.responseRetentionDays,
      disconnectPolicy: namesake.disconnectPolicy,
      content: namesake.content,
      limits: namesake.limits,
      tags: namesake.tags,
    };
    await store.deleteApiKey(namesake.id, changeNow(dependencies));
  }
  throw new AccountsError('conflict', `The key ${name} of ${userName} is being changed by other processes; run the command again.`);
}

/** Undefined if the name or the secret is in use. */
async function insertApiKey(
  { store, clock, random, author }: AccountsDependencies,
  requested: { id: string; userName: string; name: string; hash: string; hint: string } & KeyOptions,
): Promise<ApiKey | undefined> {
  const createdAtMs = clock.nowMs();
  const change: Change = { ...author, atMs: createdAtMs };
  const user = await store.ensureUser({ id: generateId(userIdLength, random), name: requested.userName, createdAtMs }, change);
  const key: ApiKey = {
    id: requested.id,
    userId: user.id,
    userName: user.name,
    name: requested.name,
    hint: requested.hint,
    createdAtMs,
    strictTranslation: requested.strictTranslation,
    ...(requested.responseRetentionDays === undefined ? {} : { responseRetentionDays: requested.responseRetentionDays }),
    ...(requested.disconnectPolicy === undefined ? {} : { disconnectPolicy: requested.disconnectPolicy }),
    ...(requested.content === undefined ? {} : { content: requested.content }),
    ...(requested.limits === undefined ? {} : { limits: requested.limits }),
    ...(requested.tags === undefined || Object.keys(requested.tags).length === 0 ? {} : { tags: sortTags(requested.tags) }),
    ...(user.limits === undefined ? {} : { userLimits: user.limits }),
  };
  return (await store.insertApiKey({ ...key, hash: requested.hash }, change)) ? key : undefined;
}

function matches(key: ApiKey, reference: KeyReference): boolean {
  if ('id' in reference) return key.id === reference.id;
  return key.userName === reference.userName.normalize('NFC') && key.name === reference.name.normalize('NFC');
}
