import type { AccountsStore } from '../../../accounts/accounts-store.ts';
import type { ApiKey } from '../../../accounts/api-key.ts';
import { findUserNamed } from '../../../accounts/user-query.ts';

type Accounts = Pick<AccountsStore, 'queryApiKeys' | 'queryUsers' | 'listTeams' | 'readOrganization'>;

/** A key with the limits of all its levels. Undefined if it was deleted. */
export async function findKey(store: Pick<Accounts, 'queryApiKeys'>, id: string): Promise<ApiKey | undefined> {
  const [key] = await store.queryApiKeys({ users: 'all', ids: [id], order: 'oldest', limit: 1 });
  return key;
}

/** A user as a caller with a key that has no limits of its own. Undefined if there is none of this name. */
export async function findUser(store: Accounts, name: string): Promise<ApiKey | undefined> {
  const user = await findUserNamed(store, 'all', name);
  if (user === undefined) return undefined;
  const team = user.team === undefined ? undefined : (await store.listTeams()).find((each) => each.name === user.team);
  const { limits: organizationLimits } = await store.readOrganization();
  return {
    id: '',
    userId: user.id,
    userName: user.name,
    name: '',
    hint: '',
    createdAtMs: user.createdAtMs,
    strictTranslation: false,
    ...(user.limits !== undefined && { userLimits: user.limits }),
    ...(team !== undefined && { team }),
    ...(organizationLimits !== undefined && { organizationLimits }),
  };
}
