import { instantIn, showDay } from '../format/times.ts';

/** The span of time of a page, as the address has it: a name (`r`), or two times (`from`, `to`). */
export type SpanSearch = { readonly r?: string; readonly from?: string; readonly to?: string; readonly tz?: string };

export type Span = { readonly from: string; readonly to: string; readonly isOpen: boolean; readonly label: string };

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** The named spans. Those of days begin at midnight of the zone. */
export const namedSpans = {
  '1h': { text: 'last hour', lastMs: hourMs },
  '6h': { text: 'last 6 hours', lastMs: 6 * hourMs },
  '24h': { text: 'last 24 hours', lastMs: dayMs },
  '7d': { text: 'last 7 days', lastMs: 7 * dayMs },
  '30d': { text: 'last 30 days', lastMs: 30 * dayMs },
  today: { text: 'today', lastMs: undefined },
  month: { text: 'this month', lastMs: undefined },
  lastMonth: { text: 'last month', lastMs: undefined },
  year: { text: 'this year', lastMs: undefined },
} as const;
export type SpanName = keyof typeof namedSpans;

export const isSpanName = (name: string | undefined): name is SpanName => name !== undefined && Object.hasOwn(namedSpans, name);

const dayOf = (day: string, zone: string): number => instantIn(day, zone);

/** The first day of the month that is `months` after that of a day. */
function firstOfMonth(day: string, months: number): string {
  const [year = 0, month = 1] = day.split('-').map(Number);
  return new Date(Date.UTC(year, month - 1 + months, 1)).toISOString().slice(0, 10);
}

/**
 * A span as instants. Named spans end in the next full minute, so that a question is the same for a minute and its
 * answer can be used again.
 */
export function readSpan({ r, from, to }: SpanSearch, zone: string, nowMs: number, fallback: SpanName): Span {
  const instant = (ms: number): string => new Date(ms).toISOString();
  const end = Math.ceil((nowMs + 1) / 60_000) * 60_000;
  if (from !== undefined && to !== undefined && !Number.isNaN(Date.parse(from)) && !Number.isNaN(Date.parse(to)))
    return { from: instant(Date.parse(from)), to: instant(Date.parse(to)), isOpen: Date.parse(to) > nowMs, label: 'chosen span' };
  const name = isSpanName(r) ? r : fallback;
  const { text, lastMs } = namedSpans[name];
  const open = (start: number): Span => ({ from: instant(start), to: instant(end), isOpen: true, label: text });
  if (lastMs !== undefined) return open(end - lastMs);
  const today = showDay(nowMs, zone);
  if (name === 'today') return open(dayOf(today, zone));
  if (name === 'month') return open(dayOf(firstOfMonth(today, 0), zone));
  if (name === 'year') return open(dayOf(`${today.slice(0, 4)}-01-01`, zone));
  const [start, over] = [dayOf(firstOfMonth(today, -1), zone), dayOf(firstOfMonth(today, 0), zone)];
  return { from: instant(start), to: instant(over), isOpen: false, label: text };
}

/** The span of the same length before or after. */
export function moveSpan({ from, to }: Span, step: 1 | -1): { readonly from: string; readonly to: string } {
  const [start, end] = [Date.parse(from), Date.parse(to)];
  const by = step * (end - start);
  return { from: new Date(start + by).toISOString(), to: new Date(end + by).toISOString() };
}
