import type { Reply } from '../../api/client.ts';
import { showDay } from '../../format/times.ts';

export type Comparison = Reply<'reconciliations.list'>['items'][number];

export type Detail = Reply<'reconciliations.get'>;
/** A model and a day of the vendor. */
export type CellName = { readonly day: string; readonly model: string };

/** What is known of a day of a vendor. Its time may have been compared more than once: the newest counts. */
export type DayState = 'agrees' | 'accepted' | 'differs' | 'comparing' | 'failed' | 'missing' | 'future';
export type VendorDay = { readonly day: string; readonly state: DayState; readonly comparison: Comparison | undefined };

const dayMs = 86_400_000;

/** The days of a month such as `2026-11`. */
function daysOfMonth(month: string): readonly string[] {
  const [year = 0, number = 1] = month.split('-').map(Number);
  const count = new Date(Date.UTC(year, number, 0)).getUTCDate();
  return Array.from({ length: count }, (_, index) => `${month}-${String(index + 1).padStart(2, '0')}`);
}

export function nextMonth(month: string, step: number): string {
  const [year = 0, number = 1] = month.split('-').map(Number);
  return new Date(Date.UTC(year, number - 1 + step, 1)).toISOString().slice(0, 7);
}

/** The whole days of its vendor that a comparison covers. */
export function daysOf({ from, to, time_zone: zone }: Pick<Comparison, 'from' | 'to' | 'time_zone'>): readonly string[] {
  const end = Date.parse(to);
  const days: string[] = [];
  // Noon is in the same day in every zone, also where clocks change.
  for (let ms = Date.parse(from) + dayMs / 2; ms < end; ms += dayMs) days.push(showDay(ms, zone));
  return [...new Set(days)];
}

/** The days of a comparison: `2026-11-01`, or `2026-11-01 to 2026-11-20`. */
export function showDays(comparison: Pick<Comparison, 'from' | 'to' | 'time_zone'>): string {
  const days = daysOf(comparison);
  const [first = '', last = ''] = [days[0], days.at(-1)];
  return first === last ? first : `${first} to ${last}`;
}

/**
 * The state of each day of a month for one vendor.
 * @param comparisons of the vendor, in any order
 * @param differing the days that differ, of comparisons that are known in detail. Others differ as a whole
 * @param today in the zone of the page: later days are not missing yet
 */
export function monthDays(
  month: string,
  comparisons: readonly Comparison[],
  differing: ReadonlyMap<string, ReadonlySet<string>>,
  today: string,
): readonly VendorDay[] {
  const newest = new Map<string, Comparison>();
  for (const comparison of comparisons.toSorted((one, other) => (one.created_at < other.created_at ? -1 : 1)))
    for (const day of daysOf(comparison)) {
      const before = newest.get(day);
      // One that failed says nothing, so that it does not hide one that did not.
      if (before === undefined || comparison.state === 'agrees' || comparison.state === 'differs') newest.set(day, comparison);
    }
  return daysOfMonth(month).map((day) => {
    const comparison = newest.get(day);
    return {
      day,
      state: comparison === undefined ? (day >= today ? 'future' : 'missing') : stateOf(comparison, day, differing),
      comparison,
    };
  });
}

function stateOf({ id, state, accepted }: Comparison, day: string, differing: ReadonlyMap<string, ReadonlySet<string>>): DayState {
  if (state === 'differs' && accepted !== null) return 'accepted';
  if (state === 'differs') return differing.get(id)?.has(day) === false ? 'agrees' : 'differs';
  return state === 'cancelled' ? 'failed' : state;
}

/** The vendor whose form the beginning of an export has; undefined if it is not known. */
export function guessVendor(head: string): 'openai' | 'anthropic' | 'google' | undefined {
  if (/"organization\.(?:usage|costs)\b/.test(head) || /"num_model_requests"/.test(head)) return 'openai';
  if (/"starting_at"/.test(head) || /\busage_date_utc\b|\bmodel_version\b/.test(head)) return 'anthropic';
  if (/\bSKU description\b/i.test(head)) return 'google';
  if (/\bnum_model_requests\b|\bn_context_tokens_total\b|\bamount_value\b/.test(head)) return 'openai';
  return undefined;
}
