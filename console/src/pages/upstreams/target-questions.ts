import { useQuery } from '@tanstack/react-query';

import type { Query } from '../../api/client.ts';
import { queryClient, question } from '../../api/query-client.ts';
import { useEvents } from '../../components/live.ts';
import { useMinute } from '../../components/use-page.ts';

const dayMs = 86_400_000;
const groupsMax = 50;

/** The health of targets: asked again when a state changes, and now and then for the figures. */
export function useTargets(query: Query<'targets.list'>) {
  const targets = { ...question('targets.list', { query }), refetchInterval: 5000 };
  useEvents({ topics: 'targets' }, { targets: () => void queryClient.invalidateQueries({ queryKey: ['targets.list'] }) });
  return useQuery(targets);
}

export type TargetDay = { readonly calls: number; readonly failedShare: number | undefined; readonly firstByteMs: number | undefined };

/**
 * What models at upstreams did in the last 24 hours, by upstream and model. All credentials of an upstream are one: the
 * books know no more.
 */
export function useTargetDays(upstream?: string): ReadonlyMap<string, TargetDay> {
  const nowMs = useMinute();
  const { data } = useQuery({
    ...question('usage.query', {
      body: {
        from: new Date(nowMs - dayMs).toISOString(),
        to: new Date(nowMs + 60_000).toISOString(),
        granularity: 'none',
        extra: ['failed', 'first_byte'],
        group_by: ['upstream', 'upstream_model'],
        rank_by: 'calls',
        limit: groupsMax,
        ...(upstream !== undefined && { filters: { upstream: [upstream] } }),
      },
    }),
    staleTime: 30_000,
  });
  return new Map(
    (data?.series ?? []).map(({ names, total }) => [
      names.join('/'),
      {
        calls: total.calls,
        failedShare: total.failed === null || total.calls === 0 ? undefined : total.failed / total.calls,
        firstByteMs: total.first_byte_p95_ms ?? undefined,
      },
    ]),
  );
}
