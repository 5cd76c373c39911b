import { QueryClient } from '@tanstack/react-query';

import { ask, type Input, type OperationId, type Reply, runOperation } from './client.ts';
import { ApiProblem } from './problem.ts';

const triesMax = 3;
/** An answer that failed, and may succeed later, is asked for again so often while its page is open. */
export const againMs = 5000;

/** Whether the same request may succeed later: the server or its database is away, not the request wrong. */
export const isPassing = (error: unknown): boolean => error instanceof ApiProblem && error.body.retryable;

/**
 * Whether a failure hides an answer: the server refuses it, or there was none. While the server is only away, what it
 * answered before stays on the page, and the bar above says of when it is.
 */
export const isLost = (error: unknown, data: unknown): boolean => error !== null && (data === undefined || !isPassing(error));

/** All answers that the pages hold. A refusal is not asked again; a server that does not answer is. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5000,
      gcTime: 5 * 60_000,
      refetchOnWindowFocus: true,
      retry: (failures, error) => isPassing(error) && (error as ApiProblem).code !== 'too_many_requests' && failures < triesMax,
      refetchInterval: ({ state }) => (isPassing(state.error) ? againMs : false),
    },
  },
});

/** The question for an operation, for loaders and for components. */
export function question<Id extends OperationId>(id: Id, input: Omit<Input<Id>, 'signal'>) {
  return {
    queryKey: [id, input] as const,
    queryFn: ({ signal }: { readonly signal: AbortSignal }): Promise<Reply<Id>> => ask(id, { ...input, signal } as unknown as Input<Id>),
  };
}

/** The same with the version of the object, which a change of it must name. */
export function versionedQuestion<Id extends OperationId>(id: Id, input: Omit<Input<Id>, 'signal'>) {
  return {
    queryKey: [id, input, 'versioned'] as const,
    queryFn: ({ signal }: { readonly signal: AbortSignal }) => runOperation(id, { ...input, signal } as unknown as Input<Id>),
  };
}

/** Everything that an operation of one of these kinds answers is asked again: `keys` for `keys.list` and `keys.get`. */
export async function forget(...kinds: readonly string[]): Promise<void> {
  await queryClient.invalidateQueries({
    predicate: ({ queryKey: [id] }) => typeof id === 'string' && kinds.some((kind) => id === kind || id.startsWith(`${kind}.`)),
  });
}
