import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import type { Reply } from '../api/client.ts';
import { question } from '../api/query-client.ts';

/** So many can be looked through in a list. */
const listedMax = 50;

type UsersFound = {
  /** All users, or those whose names have what was typed; undefined before the first answer. */
  readonly users: Reply<'users.list'>['items'] | undefined;
  /** The oldest users, whatever was typed: the first of them is the choice before there is one. */
  readonly oldest: Reply<'users.list'>['items'] | undefined;
  /** Whether there are so few that all are listed. */
  readonly isWhole: boolean;
  readonly find: (text: string) => void;
  readonly error: unknown;
};

/** The users to choose one of, without asking for all of them where there are many. */
export function useUsersFound(enabled = true): UsersFound {
  const [text, setText] = useState('');
  const first = useQuery({ ...question('users.list', { query: { limit: listedMax } }), enabled });
  // Before the first answer too: a field must not become another one under the hands.
  const isWhole = first.data === undefined || first.data.next_cursor === null;
  const wanted = { ...question('users.list', { query: { limit: listedMax, q: text } }), placeholderData: keepPreviousData };
  const found = useQuery({ ...wanted, enabled: enabled && !isWhole && text !== '' });
  return {
    users: isWhole || text === '' ? first.data?.items : (found.data?.items ?? first.data?.items),
    oldest: first.data?.items,
    isWhole,
    find: setText,
    error: first.error,
  };
}
