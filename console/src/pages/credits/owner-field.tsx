import { useQuery } from '@tanstack/react-query';

import { question } from '../../api/query-client.ts';
import { useSession } from '../../components/use-page.ts';
import { SelectField } from '../../ui/field.tsx';

/** The accounts that the session may see; the first is chosen at first. */
export function useOwners(): readonly { readonly value: string; readonly text: string }[] | undefined {
  const seesAll = useSession().users === null;
  const users = useQuery(question('users.list', {}));
  const teams = useQuery({ ...question('teams.list', {}), enabled: seesAll });
  if (users.data === undefined || (seesAll && teams.data === undefined)) return undefined;
  return [
    ...users.data.items.map(({ name }) => ({ value: `user:${name}`, text: name })),
    ...(teams.data?.items ?? []).map(({ name }) => ({ value: `team:${name}`, text: `team ${name}` })),
    ...(seesAll ? [{ value: 'organization', text: 'the organization' }] : []),
  ];
}

export function OwnerField({ value, onChange }: { readonly value: string; readonly onChange: (value: string) => void }) {
  return <SelectField label="Account" value={value} options={useOwners() ?? [{ value, text: value }]} onChange={onChange} />;
}
