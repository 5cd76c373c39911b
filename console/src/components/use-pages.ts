import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';

import { ask, type Input, type OperationId, type Reply } from '../api/client.ts';

/** A list is asked again at least so often, if it is asked again at all. */
const longestMs = 15_000;

/** The ids of operations that answer pages. */
type PagedId = { [Id in OperationId]: Reply<Id> extends { readonly next_cursor: string | null } ? Id : never }[OperationId];

type Item<Id extends PagedId> = Reply<Id> extends { readonly items: readonly (infer Row)[] } ? Row : never;

/**
 * The pages of a list, one after another.
 * @param input without its limit and cursor
 * @param againMs after how many milliseconds a row is asked for again: the shortest of all rows counts
 */
export function usePages<Id extends PagedId>(id: Id, input: Omit<Input<Id>, 'signal'>, limit = 100, againMs?: (row: Item<Id>) => number) {
  const { query = {} } = input as { readonly query?: object };
  return useInfiniteQuery({
    queryKey: [id, input, 'pages', limit],
    queryFn: ({ pageParam, signal }) =>
      ask(id, { ...input, query: { ...query, limit, ...(pageParam !== '' && { cursor: pageParam }) }, signal } as unknown as Input<Id>),
    initialPageParam: '',
    getNextPageParam: (page: Reply<Id>) => (page as { readonly next_cursor: string | null }).next_cursor ?? undefined,
    placeholderData: keepPreviousData,
    ...(againMs !== undefined && {
      refetchInterval: ({ state: { data } }: { readonly state: { readonly data?: unknown } }) => {
        const pages = (data as { readonly pages: readonly { readonly items: readonly Item<Id>[] }[] } | undefined)?.pages ?? [];
        const rows = pages.flatMap(({ items }) => items);
        return Math.min(longestMs, ...rows.map(againMs));
      },
    }),
  });
}
