import { useQuery } from '@tanstack/react-query';

import { question } from '../../api/query-client.ts';
import { useSession } from '../../components/use-page.ts';
import { useUsersFound } from '../../components/use-users-found.ts';
import { ChoiceField } from '../../ui/field.tsx';
import { readOwner } from './account-owner.ts';

/** The account that stands in a form before one is chosen; undefined while it is not known, and if there is none. */
export function useFirstOwner(): { readonly isKnown: boolean; readonly owner: string | undefined } {
  const seesAll = useSession().users === null;
  const { oldest } = useUsersFound();
  const [first] = oldest ?? [];
  return { isKnown: oldest !== undefined, owner: first === undefined ? (seesAll ? 'organization' : undefined) : `user:${first.name}` };
}

const textOf = (value: string): string => {
  const owner = readOwner(value);
  if (owner === undefined) return value;
  if (owner.level === 'organization') return 'the organization';
  return owner.level === 'team' ? `team ${owner.name}` : owner.name;
};

/** Whose account: of a user, a team or the organization. */
export function OwnerField({ value, onChange }: { readonly value: string; readonly onChange: (value: string) => void }) {
  const seesAll = useSession().users === null;
  const { users = [], isWhole, find } = useUsersFound();
  const teams = useQuery({ ...question('teams.list', {}), enabled: seesAll });
  const values = [
    ...users.map(({ name }) => `user:${name}`),
    ...(teams.data?.items ?? []).map(({ name }) => `team:${name}`),
    ...(seesAll ? ['organization'] : []),
  ];
  const offered = values.map((each) => ({ value: each, text: textOf(each) }));
  return <ChoiceField label="Account" text={textOf(value)} onType={find} {...{ value, isWhole, offered, onChange }} />;
}
