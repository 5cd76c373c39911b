import type { ChangeAuthor } from '../audit/change-author.ts';
import type { Clock } from '../platform/clock.ts';
import { type AccessLimitsChange, isLimitsChange } from './access-limits.ts';
import { AccountsError } from './accounts-error.ts';
import type { AccountsStore } from './accounts-store.ts';
import { generateSecret } from './api-key-format.ts';
import type { RandomBytes } from './api-key-format.ts';
import type { ApiKey } from './api-key.ts';
import { createHint } from './create-hint.ts';
import { hashSecret } from './hash-secret.ts';
import type { KeyQuery, ListedApiKey } from './key-store.ts';

/** The most keys of one bulk change, and of one page of a list. */
export const bulkKeysMax = 500;
const keyPageMax = 1000;
/** The longest time for which a replaced secret can stay valid: 90 days. */
export const overlapMsMax = 90 * 86_400_000;

/** A change of many keys. `limit` also sets and removes an expiry. */
type BulkKeyChange = {
  /** The users whose keys may be changed. The keys of others count as missing. */
  readonly users: KeyQuery['users'];
  /** At most `bulkKeysMax` ids. An id that is given twice is changed once. */
  readonly keyIds: readonly string[];
} & (
  | { readonly action: 'enable' | 'disable' }
  | { readonly action: 'expire'; readonly expiresAtMs: number | null }
  | { readonly action: 'limit'; readonly limits: AccessLimitsChange }
);

/** The result of one key of a bulk change. `failed`: the store could not change it, and a retry can succeed. */
type BulkKeyResult = { readonly keyId: string; readonly outcome: 'changed' | 'not_found' | 'failed' };

/** Lists keys, replaces their secrets and changes many of them. Methods reject as those of Accounts do. */
export type KeyManagement = {
  /** One page of keys. @throws AccountsError `invalid_limit` for a page of more than `keyPageMax` keys */
  readonly queryApiKeys: (query: KeyQuery) => Promise<readonly ListedApiKey[]>;
  /** All keys of a query, oldest first, read page by page. */
  readonly listApiKeys: (filter?: Partial<Omit<KeyQuery, 'after' | 'limit' | 'order'>>) => Promise<readonly ListedApiKey[]>;
  /** Enabled keys that expire in the next `days` days, by their own limits or those of their owner, oldest first. */
  readonly listExpiringKeys: (days: number, users?: KeyQuery['users']) => Promise<readonly ListedApiKey[]>;
  /**
   * Replaces the secret of a key. The present secret opens it for another `overlapMs`, at most `overlapMsMax`, so that
   * clients can be changed one after the other; the one before it ends at once. The new secret opens the key in every
   * process at once, and the old one ends exactly at its time. Undefined if there is no such key. Rejects with
   * `invalid_overlap` or `no_secret`.
   */
  readonly rotateApiKey: (keyId: string, overlapMs: number) => Promise<{ readonly key: ApiKey; readonly secret: string } | undefined>;
  /**
   * Changes many keys, each in a transaction of its own and with a row of its own in the audit log: a key that cannot
   * be changed does not stop the others. Results are in the order of the ids. Rejects with `invalid_limit` before
   * anything is changed.
   */
  readonly changeApiKeys: (change: BulkKeyChange) => Promise<readonly BulkKeyResult[]>;
};

type Dependencies = {
  readonly store: AccountsStore;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly author: ChangeAuthor;
};

const idLength = 10;
const dayMs = 86_400_000;

export function createKeyManagement(dependencies: Dependencies): KeyManagement {
  const { store, clock } = dependencies;
  const listAll = (filter: Partial<Omit<KeyQuery, 'after' | 'limit' | 'order'>> = {}): Promise<readonly ListedApiKey[]> => {
    const userName = filter.userName?.normalize('NFC');
    return readPages(store, {
      users: 'all',
      ...filter,
      ...(userName === undefined ? {} : { userName }),
      order: 'oldest',
      limit: keyPageMax,
    });
  };
  return {
    queryApiKeys: async (query) => {
      if (!Number.isSafeInteger(query.limit) || query.limit < 1 || query.limit > keyPageMax)
        throw new AccountsError('invalid_limit', `A page has 1 to ${keyPageMax} keys; got ${query.limit}.`);
      return await store.queryApiKeys(query);
    },
    listApiKeys: listAll,
    listExpiringKeys: (days, users = 'all') => {
      const nowMs = clock.nowMs();
      return listAll({ users, isEnabled: true, expiresFromMs: nowMs, expiresBeforeMs: nowMs + days * dayMs });
    },
    rotateApiKey: (keyId, overlapMs) => rotateApiKey(dependencies, keyId, overlapMs),
    changeApiKeys: (change) => changeApiKeys(dependencies, change),
  };
}

async function readPages(store: AccountsStore, query: KeyQuery): Promise<readonly ListedApiKey[]> {
  const listed: ListedApiKey[] = [];
  for (let after: KeyQuery['after']; ;) {
    const page = await store.queryApiKeys(after === undefined ? query : { ...query, after });
    listed.push(...page);
    const last = page.at(-1);
    if (last === undefined || page.length < query.limit) return listed;
    after = { createdAtMs: last.createdAtMs, id: last.id };
  }
}

async function rotateApiKey(
  { store, clock, random, author }: Dependencies,
  keyId: string,
  overlapMs: number,
): Promise<{ readonly key: ApiKey; readonly secret: string } | undefined> {
  if (!Number.isSafeInteger(overlapMs) || overlapMs < 0 || overlapMs > overlapMsMax)
    throw new AccountsError('invalid_overlap', `The old secret may stay valid for 0 to ${overlapMsMax / dayMs} days; got ${overlapMs} ms.`);
  const [existing] = await store.queryApiKeys({ users: 'all', ids: [keyId], order: 'oldest', limit: 1 });
  if (existing?.issuer !== undefined)
    throw new AccountsError('no_secret', `The key ${existing.name} has no secret: tokens of the issuer ${existing.issuer} open it.`);
  const { secret } = generateSecret('sk-weir', random, keyId.length === idLength ? keyId : undefined);
  const atMs = clock.nowMs();
  const hash = hashSecret(await store.pepper(), secret);
  const rotation = { keyId, hash, hint: createHint(secret), previousOpensUntilMs: atMs + overlapMs };
  if (!(await store.rotateApiKey(rotation, { ...author, atMs }))) return undefined;
  const [key] = await store.queryApiKeys({ users: 'all', ids: [keyId], order: 'oldest', limit: 1 });
  return key === undefined ? undefined : { key, secret };
}

async function changeApiKeys(dependencies: Dependencies, change: BulkKeyChange): Promise<readonly BulkKeyResult[]> {
  const { store } = dependencies;
  const keyIds = [...new Set(change.keyIds)];
  if (keyIds.length > bulkKeysMax)
    throw new AccountsError('invalid_limit', `At most ${bulkKeysMax} keys can be changed at once; got ${keyIds.length}.`);
  const limits = limitsOf(change);
  if (limits !== undefined && !isLimitsChange(limits))
    throw new AccountsError('invalid_limit', 'The change has a value that the limit cannot have.');
  // A key never gets another owner, so what is seen here is true when the key is changed.
  const listed = await store.queryApiKeys({ users: change.users, ids: keyIds, order: 'oldest', limit: bulkKeysMax });
  const visible = new Set(listed.map(({ id }) => id));
  const results: BulkKeyResult[] = [];
  for (const keyId of keyIds)
    results.push({ keyId, outcome: visible.has(keyId) ? await changeOne(dependencies, keyId, change.action, limits) : 'not_found' });
  return results;
}

function limitsOf(change: BulkKeyChange): AccessLimitsChange | undefined {
  if (change.action === 'expire') return { expiresAtMs: change.expiresAtMs };
  return change.action === 'limit' ? change.limits : undefined;
}

async function changeOne(
  { store, clock, author }: Dependencies,
  keyId: string,
  action: BulkKeyChange['action'],
  limits: AccessLimitsChange | undefined,
): Promise<BulkKeyResult['outcome']> {
  const atMs = clock.nowMs();
  const change = { ...author, atMs };
  try {
    const isFound =
      limits === undefined
        ? await store.setApiKeyDisabled(keyId, action === 'disable' ? atMs : undefined, change)
        : await store.changeApiKeyLimits(keyId, limits, change);
    return isFound ? 'changed' : 'not_found';
  } catch {
    // The result of this key says so, and the other keys are changed all the same.
    return 'failed';
  }
}
