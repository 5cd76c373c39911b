import type { AccountsStore } from '../../accounts/accounts-store.ts';
import { isPlaygroundKey } from '../../accounts/people/playground-key-name.ts';
import type { TeamStore } from '../../accounts/team-store.ts';
import type { CreditBooks } from './credit-books.ts';
import type { Payer } from './credit-desk.ts';
import { accountIdOf, type Pot, potsOf, spanEndMs } from './pots.ts';
import { type MoneyStanding, remainingShare } from './standing.ts';

type Reader = Pick<AccountsStore, 'listUsers' | 'queryApiKeys'> &
  Pick<TeamStore, 'listTeams' | 'readOrganization'> &
  Pick<CreditBooks, 'readPots'>;

/** The standing of a limit or balance, and whose it is. */
export type OwnedStanding = MoneyStanding & {
  readonly userName?: string;
  readonly team?: string;
  readonly key?: { readonly id: string; readonly name: string };
};

/** The most keys that are read; each with a spend limit costs a query. */
const keysMax = 10_000;

/**
 * Every spend limit, and every balance that pays, of keys that are not disabled, users, teams and the organization:
 * nearest to its end first. Bounds of keys of the playground are not among them: they end within hours.
 * Rejects with the store's error.
 * @param users whose limits; those of teams and the organization only with `all`
 */
export async function listStandings(store: Reader, users: 'all' | readonly string[], nowMs: number): Promise<readonly OwnedStanding[]> {
  const [all, teams, organization] = await Promise.all([store.listUsers(), store.listTeams(), store.readOrganization()]);
  const keys = await store.queryApiKeys({ users, isEnabled: true, order: 'newest', limit: keysMax });
  const keyNames = new Map(keys.map(({ id, name }) => [id, name]));
  const teamNames = new Map(teams.map(({ id, name }) => [id, name]));
  const payers: readonly Payer[] = [
    ...all
      .filter(({ name }) => users === 'all' || users.includes(name))
      .map(({ name, limits }) => ({ id: '', userName: name, ...(limits !== undefined && { userLimits: limits }) })),
    ...keys
      .filter((key) => !isPlaygroundKey(key))
      .map(({ id, userName, limits }) => ({ id, userName, ...(limits !== undefined && { limits }) })),
    ...(users === 'all' ? teams.map((team) => ({ id: '', userName: '', team })) : []),
    ...(users === 'all' && organization.limits !== undefined ? [{ id: '', userName: '', organizationLimits: organization.limits }] : []),
  ];
  // In groups of one owner, so that its limits are read once.
  const byOwner = new Map<string, Map<string, Pot>>();
  for (const payer of payers)
    for (const pot of potsOf(payer, nowMs))
      byOwner.getOrInsertComputed(accountIdOf(pot.owner), () => new Map<string, Pot>()).set(pot.id, pot);
  const found: OwnedStanding[] = [];
  for (const pots of byOwner.values()) {
    for (const report of await store.readPots([...pots.values()])) {
      const standing = describePot(report, keyNames, teamNames);
      if (standing !== undefined) found.push(standing);
    }
  }
  return found.toSorted((one, other) => remainingShare(one) - remainingShare(other));
}

/** Undefined for a pot whose limit was taken away meanwhile. */
function describePot(
  { pot, limitNanoUsd, spentNanoUsd, leasedNanoUsd, videosNanoUsd }: Awaited<ReturnType<Reader['readPots']>>[number],
  keyNames: ReadonlyMap<string, string>,
  teamNames: ReadonlyMap<string, string>,
): OwnedStanding | undefined {
  if (limitNanoUsd === undefined) return undefined;
  const reservedNanoUsd = leasedNanoUsd + videosNanoUsd;
  const rest = limitNanoUsd - spentNanoUsd - videosNanoUsd;
  const { owner } = pot;
  const resetsAtMs = pot.kind === 'spend' ? spanEndMs(pot.span) : undefined;
  const keyId = pot.kind === 'spend' ? pot.keyId : undefined;
  return {
    level: pot.kind === 'spend' ? pot.scope : owner.level,
    of: pot.kind === 'spend' ? pot.period : 'balance',
    limitNanoUsd,
    ...(pot.kind === 'spend' && { spentNanoUsd }),
    reservedNanoUsd,
    leftNanoUsd: rest < 0n ? 0n : rest,
    ...(resetsAtMs !== undefined && { resetsAtMs }),
    ...(owner.level === 'user' && { userName: owner.userName }),
    ...(owner.level === 'team' && { team: teamNames.get(owner.teamId) ?? owner.teamId }),
    ...(keyId !== undefined && { key: { id: keyId, name: keyNames.get(keyId) ?? keyId } }),
  };
}
