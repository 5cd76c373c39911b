import { useQueries, useQuery } from '@tanstack/react-query';

import { question } from '../../api/query-client.ts';
import { useMinute, useZone } from '../../components/use-page.ts';
import { showDay } from '../../format/times.ts';
import { vendors } from './comparison-words.ts';
import { type Detail, monthDays, nextMonth, type VendorDay } from './month-days.ts';

export type VendorMonth = { readonly vendor: string; readonly days: readonly VendorDay[] };

const detailsMax = 60;

/** The days that differ by more than the tolerance, of a comparison. */
function differingDays({ result }: Detail): ReadonlySet<string> {
  return new Set([
    ...(result?.cells ?? []).filter(({ usage }) => usage.some(({ over_tolerance: isOver }) => isOver)).map(({ day }) => day),
    ...(result?.costs ?? []).filter(({ over_tolerance: isOver }) => isOver).map(({ day }) => day),
  ]);
}

/**
 * A month day by day, for each vendor with a comparison or with a configured upstream.
 * @param month such as `2026-11`
 */
export function useMonth(month: string): { readonly months: readonly VendorMonth[] | undefined; readonly error: unknown } {
  const zone = useZone();
  const today = showDay(useMinute(), zone);
  // A day of a vendor may begin up to fourteen hours before that of UTC, or after it.
  const span = { from: `${month}-01T00:00:00Z`, to: `${nextMonth(month, 1)}-01T14:00:00Z` };
  const list = useQuery(question('reconciliations.list', { query: { ...span, limit: 500 } }));
  const upstreams = useQuery({ ...question('upstreams.list', {}), staleTime: 60_000 });
  const differing = (list.data?.items ?? []).filter(({ state, accepted }) => state === 'differs' && accepted === null).slice(0, detailsMax);
  const details = useQueries({
    queries: differing.map(({ id }) => ({
      ...question('reconciliations.get', { params: { id }, query: { differing: true } }),
      staleTime: 60_000,
    })),
  });
  if (list.data === undefined) return { months: undefined, error: list.error };
  const known = new Map(details.flatMap(({ data }) => (data === undefined ? [] : [[data.id, differingDays(data)] as const])));
  const { items } = list.data;
  const used = new Set((upstreams.data?.items ?? []).map(({ vendor }) => (vendor === 'gemini' ? 'google' : vendor)));
  const shown = vendors.filter((vendor) => used.has(vendor) || items.some((each) => each.vendor === vendor));
  return {
    error: null,
    months: shown.map((vendor) => ({
      vendor,
      days: monthDays(
        month,
        items.filter((each) => each.vendor === vendor),
        known,
        today,
      ),
    })),
  };
}
