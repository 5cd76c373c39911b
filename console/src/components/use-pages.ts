import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';

import { ask, type Input, type OperationId, type Reply } from '../api/client.ts';

/** The ids of operations that answer pages. */
type PagedId = { [Id in OperationId]: Reply<Id> extends { readonly next_cursor: string | null } ? Id : never }[OperationId];

/** The pages of a list, one after another. @param input without its limit and cursor */
export function usePages<Id extends PagedId>(id: Id, input: Omit<Input<Id>, 'signal'>, limit = 100) {
  const { query = {} } = input as { readonly query?: object };
  return useInfiniteQuery({
    queryKey: [id, input, 'pages', limit],
    queryFn: ({ pageParam, signal }) =>
      ask(id, { ...input, query: { ...query, limit, ...(pageParam !== '' && { cursor: pageParam }) }, signal } as unknown as Input<Id>),
    initialPageParam: '',
    getNextPageParam: (page: Reply<Id>) => (page as { readonly next_cursor: string | null }).next_cursor ?? undefined,
    placeholderData: keepPreviousData,
  });
}
