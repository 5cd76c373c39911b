import type { AccountsStore } from '../accounts-store.ts';
import type { StoredApiKey, User } from '../api-key.ts';
import { createFakeKeyLists } from './fake-key-lists.ts';
import { createFakeBillingTokens } from './fake-billing-tokens.ts';
import { changeNamed, createFakeTeams, withChangedLimits } from './fake-teams.ts';

/** An in-memory store for tests. It counts its calls and can be made to fail or hang. */
export type FakeAccountsStore = AccountsStore & {
  readonly calls: Record<string, number>;
  /** `up`: answers. `down`: every call rejects. `hanging`: no call is ever answered. */
  mode: 'up' | 'down' | 'hanging';
  /** Called before each answer, so that a test can act in the middle of a call. */
  before: (method: string) => Promise<void> | void;
};

export function createFakeAccountsStore(): FakeAccountsStore {
  let users: User[] = [];
  let keys: StoredApiKey[] = [];
  let version = 0;
  const note = (): void => {
    version += 1;
  };
  const teams = createFakeTeams({ users: () => users, change: (name, changed) => (users = changeNamed(users, name, changed)), note });

  const update = (keyId: string, change: (key: StoredApiKey) => StoredApiKey[]): boolean => {
    const found = keys.some((key) => key.id === keyId);
    keys = keys.flatMap((key) => (key.id === keyId ? change(key) : [key]));
    if (found) version += 1;
    return found;
  };

  const methods: {
    readonly [Name in keyof AccountsStore]: (...parameters: Parameters<AccountsStore[Name]>) => Awaited<ReturnType<AccountsStore[Name]>>;
  } = {
    pepper: () => 'pepper',
    ensureUser: (user) => {
      const existing = users.find((candidate) => candidate.name === user.name);
      if (existing === undefined) users.push(user);
      return existing ?? user;
    },
    listUsers: () => [...users],
    queryUsers: ({ name, limit }) => users.filter((user) => name === undefined || user.name === name).slice(0, limit),
    changeUserLimits: (userName, change) => {
      if (!users.some(({ name }) => name === userName)) return false;
      users = changeNamed(users, userName, (user) => withChangedLimits(user, change));
      version += 1;
      return true;
    },
    insertApiKey: ({ userLimits: _of, team: _team, organizationLimits: _all, ...key }) => {
      if (keys.some((other) => other.hash === key.hash || (other.userId === key.userId && other.name === key.name))) return false;
      keys.push(key);
      version += 1;
      return true;
    },
    findApiKeyByHash: (hash) => {
      const found = keys.find((key) => key.hash === hash) ?? keys.find((key) => key.previousHash === hash);
      return found === undefined ? undefined : teams.withLevels(found);
    },
    ...createFakeKeyLists({ keys: () => keys.map((key) => teams.withLevels(key)), update }),
    setApiKeyDisabled: (keyId, disabledAtMs) =>
      update(keyId, ({ disabledAtMs: _before, ...key }) => [disabledAtMs === undefined ? key : { ...key, disabledAtMs }]),
    setApiKeyDisconnect: (keyId, policy) =>
      update(keyId, ({ disconnectPolicy: _before, ...key }) => [policy === undefined ? key : { ...key, disconnectPolicy: policy }]),
    setApiKeyRetention: (keyId, days) => update(keyId, (key) => [withRetention(key, days)]),
    setApiKeyStrictTranslation: (keyId, strictTranslation) => update(keyId, (key) => [{ ...key, strictTranslation }]),
    changeApiKeyLimits: (keyId, change) => update(keyId, (key) => [withChangedLimits(key, change)]),
    setApiKeyTags: (keyId, tags) => update(keyId, ({ tags: _before, ...key }) => [Object.keys(tags).length === 0 ? key : { ...key, tags }]),
    deleteApiKey: (keyId) => update(keyId, () => []),
    keysVersion: () => version,
    ...teams.methods,
    ...createFakeBillingTokens(),
  };

  const control: Pick<FakeAccountsStore, 'calls' | 'mode' | 'before'> = { calls: {}, mode: 'up', before: () => {} };
  const answering = Object.entries(methods).map(([name, method]) => [
    name,
    async (...parameters: unknown[]): Promise<unknown> => {
      control.calls[name] = (control.calls[name] ?? 0) + 1;
      if (control.mode === 'down') throw new Error('the store is down');
      if (control.mode === 'hanging') return new Promise(() => {});
      const result = (method as (...input: unknown[]) => unknown)(...parameters);
      await control.before(name);
      return result;
    },
  ]);
  return Object.assign(control, Object.fromEntries(answering) as AccountsStore);
}

function withRetention({ responseRetentionDays: _before, ...key }: StoredApiKey, days: number | undefined): StoredApiKey {
  return days === undefined ? key : { ...key, responseRetentionDays: days };
}
