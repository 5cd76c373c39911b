import type { AccountsStore } from '../../../accounts/accounts-store.ts';
import { findUserNamed } from '../../../accounts/user-query.ts';
import type { TeamStore } from '../../../accounts/team-store.ts';
import type { VerificationStore } from '../../../billing/credits/book-verification.ts';
import type { CreditBooks } from '../../../billing/credits/credit-books.ts';
import type { LeaseStore } from '../../../billing/credits/credit-store.ts';
import type { PotOwner } from '../../../billing/credits/pots.ts';
import type { LedgerStore } from '../../../billing/ledger/ledger-store.ts';
import type { AdminContext } from '../../operation.ts';
import { notFound } from '../../problem.ts';
import type { ControlServices } from '../nodes/live-nodes.ts';
import type { ListServices } from '../list-services.ts';

export type CreditServices = ControlServices &
  ListServices & {
    readonly credits: CreditBooks & Pick<LeaseStore, 'releaseCreditNode'> & Pick<VerificationStore, 'listVerifications'>;
    readonly newId: (prefix: string) => string;
    /** Absent in commands that may only read. */
    readonly keepVerification?: VerificationStore['keepVerification'];
    readonly ledger: Pick<LedgerStore, 'findEntry'>;
    readonly accounts: Pick<AccountsStore, 'queryUsers'> & Pick<TeamStore, 'listTeams'>;
  };
export type CreditContext = AdminContext<CreditServices>;

/** The owner of an account; `name` is that of the user or the team. @throws AdminProblem `not_found` */
export type FindOwner = (context: CreditContext, name: string) => Promise<PotOwner>;

/** A user that exists and may be seen. */
export const findUser: FindOwner = async ({ services, principal }, name) => {
  const user = await findUserNamed(services.accounts, principal.users, name);
  if (user === undefined) throw notFound('user of this name');
  return { level: 'user', userName: user.name };
};

/** A team, for callers that see all users: its account discloses the spending of others. */
export const findTeam: FindOwner = async ({ services, principal }, name) => {
  const teams = principal.users === 'all' ? await services.accounts.listTeams() : [];
  const team = teams.find((each) => each.name === name.normalize('NFC'));
  if (team === undefined) throw notFound('team of this name');
  return { level: 'team', teamId: team.id };
};

/** The organization, for callers that see all users. */
export const findOrganization: FindOwner = async ({ principal }) => {
  if (principal.users !== 'all') throw notFound('account of the organization');
  return { level: 'organization' };
};

/** The owner of an account as answers name it; a deleted team by its id. */
export async function nameOwner({ accounts }: Pick<CreditServices, 'accounts'>, owner: PotOwner) {
  const { level } = owner;
  if (level === 'user') return { level, user: owner.userName, team: null };
  if (level === 'organization') return { level, user: null, team: null };
  return { level, user: null, team: (await accounts.listTeams()).find(({ id }) => id === owner.teamId)?.name ?? owner.teamId };
}
