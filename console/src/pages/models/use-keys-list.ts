import { useQuery } from '@tanstack/react-query';

import { question } from '../../api/query-client.ts';
import { lacks } from '../../api/sign-in.ts';
import { useSession } from '../../components/use-page.ts';

/** The keys that the session may see, as `user/name`, and their ids. */
export function useKeyNames(): ReadonlyMap<string, string> {
  const isAllowed = lacks(useSession(), 'keys:read') === undefined;
  const { data } = useQuery({ ...question('keys.list', { query: { limit: 500 } }), enabled: isAllowed });
  return new Map((data?.items ?? []).map(({ id, user, name }) => [`${user}/${name}`, id]));
}
