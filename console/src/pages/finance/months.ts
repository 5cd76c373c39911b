import { instantIn, showDay } from '../../format/times.ts';

/** A month such as `2026-11`, and the instants between which it lies in a zone. */
export type Month = { readonly name: string; readonly from: string; readonly to: string };

/** The month that is `back` months before that of an instant, in a zone. */
export function monthBefore(nowMs: number, zone: string, back: number): Month {
  const [year = 0, number = 1] = showDay(nowMs, zone).split('-').map(Number);
  const first = (offset: number): string => new Date(Date.UTC(year, number - 1 - back + offset, 1)).toISOString().slice(0, 10);
  const at = (day: string): string => new Date(instantIn(day, zone)).toISOString();
  return { name: first(0).slice(0, 7), from: at(first(0)), to: at(first(1)) };
}
