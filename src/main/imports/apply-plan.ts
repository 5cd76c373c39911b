import { AccountsError } from '../../accounts/accounts-error.ts';
import { encodeLimitsChange } from '../../admin/contract/limits.ts';
import { AdminProblem } from '../../admin/problem.ts';
import { userAccount } from '../../admin/resources/credits/transaction-operations.ts';
import { importKey, updateKey } from '../../admin/resources/keys/key-operations.ts';
import { createTeam } from '../../admin/resources/teams/team-operations.ts';
import { createUser } from '../../admin/resources/users/user-operations.ts';
import type { AdminService } from '../../admin/service/admin-service.ts';
import type { ImportPlan, PlannedKey, PlannedUser } from './import-plan.ts';

/** The outcome for one team, user or key. */
export type Applied = {
  readonly kind: 'team' | 'user' | 'key';
  readonly name: string;
  readonly outcome: 'made' | 'exists' | 'refused';
  /** Why it was refused, or which key has the secret already. */
  readonly detail?: string;
};

/**
 * Makes the accounts of a plan, one after the other: each is in the audit log. What exists stays as it is, so that an
 * import that was interrupted is repeated without harm.
 */
export async function applyPlan({ teams, users, keys }: ImportPlan, service: AdminService): Promise<readonly Applied[]> {
  const applied: Applied[] = [];
  const make = async (kind: Applied['kind'], name: string, work: () => Promise<unknown>): Promise<void> => {
    applied.push({ kind, name, ...(await outcomeOf(work)) });
  };
  for (const { name, limits } of teams)
    await make('team', name, () => service.call(createTeam, { body: { name, limits: encodeLimitsChange(limits) } }));
  for (const user of users) {
    await make('user', user.name, () => makeUser(user, service));
    // The reference lets no repetition pay twice.
    if (user.balance !== undefined) await topUp(user.name, user.balance, service);
  }
  for (const key of keys) await make('key', `${key.user}/${key.name}`, () => makeKey(key, service));
  return applied;
}

const refusals: ReadonlySet<string> = new Set(['invalid_request', 'not_found', 'invalid_name', 'invalid_secret', 'unknown_name']);

async function outcomeOf(work: () => Promise<unknown>): Promise<Pick<Applied, 'outcome' | 'detail'>> {
  try {
    await work();
    return { outcome: 'made' };
  } catch (error) {
    // A local service passes on the mistakes of accounts, a remote one answers problems.
    if (!(error instanceof AdminProblem) && !(error instanceof AccountsError)) throw error;
    if (error.code === 'name_taken' || error.code === 'duplicate_name') return { outcome: 'exists' };
    if (error.code === 'conflict' || error.code === 'secret_in_use') return { outcome: 'exists', detail: error.message };
    if (refusals.has(error.code)) return { outcome: 'refused', detail: error.message };
    throw error;
  }
}

const makeUser = ({ name, team, limits: { prepaid, ...limits } }: PlannedUser, service: AdminService): Promise<unknown> =>
  service.call(createUser, {
    body: {
      name,
      ...(team !== undefined && { team }),
      ...(prepaid === true && { prepaid }),
      limits: encodeLimitsChange(limits),
    },
  });

const topUp = (name: string, { usd, reference }: NonNullable<PlannedUser['balance']>, service: AdminService): Promise<unknown> =>
  service.call(userAccount.post, { params: { name }, body: { kind: 'top_up', usd, reference, note: 'balance at another gateway' } });

async function makeKey({ user, name, secret, limits, isDisabled }: PlannedKey, service: AdminService): Promise<void> {
  const opened = 'plain' in secret ? { secret: secret.plain } : { sha256: secret.sha256, ends_in: secret.endsIn };
  const { body: key } = await service.call(importKey, { body: { user, name, ...opened, limits: encodeLimitsChange(limits) } });
  if (isDisabled) await service.call(updateKey, { params: { id: key.id }, body: { disabled: true } });
}
