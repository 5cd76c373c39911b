import type { AccountsStore } from '../accounts-store.ts';
import { type StoredApiKey, withoutHashes } from '../api-key.ts';
import { changeLimits } from '../access-limits.ts';
import type { KeyEdit, KeyQuery, KeyStore, ListedApiKey } from '../key-store.ts';

type Listed = KeyStore & Pick<AccountsStore, 'listApiKeys' | 'listLimitedApiKeys'>;
type Methods = {
  readonly [Name in keyof Listed]: (...parameters: Parameters<Listed[Name]>) => Awaited<ReturnType<Listed[Name]>>;
};

/** Lists, rotation and uses of the keys of an in-memory store, for tests. */
export function createFakeKeyLists(state: {
  readonly keys: () => readonly StoredApiKey[];
  readonly update: (keyId: string, change: (key: StoredApiKey) => StoredApiKey[]) => boolean;
}): Methods {
  const uses = new Map<string, number>();
  return {
    listApiKeys: (page) => {
      const { after, limit = Infinity } = page ?? {};
      const from = after === undefined ? 0 : state.keys().findIndex(({ id }) => id === after.id) + 1;
      return state.keys().slice(from, from + limit);
    },
    listLimitedApiKeys: () => state.keys().filter(({ limits }) => limits !== undefined),
    queryApiKeys: (query) =>
      queryKeys(
        state.keys().map((key) => listed(key, uses)),
        query,
      ),
    countApiKeys: (userName) => {
      const own = state.keys().filter((key) => key.userName === userName);
      return { all: own.length, enabled: own.filter(({ disabledAtMs }) => disabledAtMs === undefined).length };
    },
    editApiKey: (keyId, edit) => state.update(keyId, (key) => [edited(key, edit)]),
    rotateApiKey: ({ keyId, hash, hint, previousOpensUntilMs }) => {
      if (state.keys().some((key) => key.hash === hash)) return false;
      return state.update(keyId, (key) => [{ ...key, hash, hint, previousHash: key.hash, previousOpensUntilMs }]);
    },
    noteApiKeyUses: (keyIds, usedAtMs) => {
      for (const keyId of keyIds) if (usedAtMs - (uses.get(keyId) ?? -Infinity) >= 60_000) uses.set(keyId, usedAtMs);
    },
  };
}

function edited({ limits, ...key }: StoredApiKey, { limits: change = {}, ...options }: KeyEdit): StoredApiKey {
  const changed = changeLimits(limits, change);
  const members = Object.entries({ ...key, ...options }).filter(([, value]) => value !== null);
  return { ...(Object.fromEntries(members) as StoredApiKey), ...(changed === undefined ? {} : { limits: changed }) };
}

function listed(key: StoredApiKey, uses: ReadonlyMap<string, number>): ListedApiKey {
  const lastUsedAtMs = uses.get(key.id);
  return { ...withoutHashes(key), ...(lastUsedAtMs === undefined ? {} : { lastUsedAtMs }) };
}

function queryKeys(all: readonly ListedApiKey[], query: KeyQuery): readonly ListedApiKey[] {
  const { users, userName, ids, unusedSinceMs, expiresBeforeMs, expiresFromMs, isEnabled, order, after, limit } = query;
  const expiryOf = ({ limits, userLimits }: ListedApiKey): number =>
    Math.min(limits?.expiresAtMs ?? Infinity, userLimits?.expiresAtMs ?? Infinity);
  const isAfter = (left: { createdAtMs: number; id: string }, right: { createdAtMs: number; id: string }): boolean =>
    left.createdAtMs === right.createdAtMs ? left.id > right.id : left.createdAtMs > right.createdAtMs;
  const sign = order === 'oldest' ? 1 : -1;
  return all
    .filter((key) => users === 'all' || users.includes(key.userName))
    .filter((key) => (userName ?? key.userName) === key.userName && (ids ?? [key.id]).includes(key.id))
    .filter((key) => unusedSinceMs === undefined || (key.lastUsedAtMs ?? key.createdAtMs) < unusedSinceMs)
    .filter((key) => expiryOf(key) < (expiresBeforeMs ?? Infinity) || expiresBeforeMs === undefined)
    .filter((key) => expiryOf(key) >= (expiresFromMs ?? -Infinity))
    .filter((key) => isEnabled === undefined || isEnabled === (key.disabledAtMs === undefined))
    .toSorted((left, right) => sign * (isAfter(left, right) ? 1 : -1))
    .filter((key) => after === undefined || (key.id !== after.id && isAfter(key, after) === (order === 'oldest')))
    .slice(0, limit);
}
