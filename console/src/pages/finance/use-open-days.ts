import { useQuery } from '@tanstack/react-query';

import { question } from '../../api/query-client.ts';
import { showDay } from '../../format/times.ts';
import { useMonth } from '../reconciliation/use-month.ts';
import type { Month } from './months.ts';

/**
 * The days of a month that are not reconciled, as `openai 2026-11-03`, of every vendor. A day on which nobody called
 * has nothing to reconcile.
 * @param zone the reporting zone, in which the month is
 */
export function useOpenDays(
  { name, from, to }: Month,
  zone: string,
): { readonly days: readonly string[] | undefined; readonly error: unknown } {
  const { months, error } = useMonth(name);
  const body = { from, to, time_zone: zone, granularity: 'day' } as const;
  const usage = useQuery({ ...question('usage.query', { body }), staleTime: 60_000 });
  if (months === undefined || usage.data === undefined) return { days: undefined, error: error ?? usage.error };
  const { bucket_starts: starts, totals } = usage.data;
  const used = new Set(starts.filter((_start, index) => (totals.buckets[index]?.calls ?? 0) > 0).map((start) => showDay(start, zone)));
  const days = months.flatMap(({ vendor, days: each }) =>
    each.filter(({ day, state }) => (state === 'missing' && used.has(day)) || state === 'differs').map(({ day }) => `${vendor} ${day}`),
  );
  return { days, error: null };
}
