import { instantIn, showDay } from '../format/times.ts';

/**
 * What a month costs if it goes on as until now, by integers. Undefined in the first hours, which say too little.
 * @param spent nano-USD since the month began
 */
export function forecastMonth(spent: bigint, nowMs: number, zone: string): bigint | undefined {
  const [year = 0, month = 1] = showDay(nowMs, zone).split('-').map(Number);
  const first = (offset: number): number => instantIn(new Date(Date.UTC(year, month - 1 + offset, 1)).toISOString().slice(0, 10), zone);
  const [begin, end] = [first(0), first(1)];
  const elapsed = BigInt(Math.max(0, nowMs - begin));
  if (elapsed < 21_600_000n) return undefined;
  return (spent * BigInt(end - begin)) / elapsed;
}
