import { addUsage, noUsage } from '../../../billing/usage/usage-question.ts';
import type { UsageSums } from '../../../billing/usage/usage-store.ts';

const daySeconds = 86_400;

type Spans = {
  /** Unix seconds: the present time, and when the present day and month began. */
  readonly now: number;
  readonly day: number;
  readonly month: number;
  /** The sums of calls accepted in `[startSeconds, endSeconds)`. */
  readonly sum: (startSeconds: number, endSeconds: number) => Promise<UsageSums>;
};

/** When the present day begins, and at least one second before now. */
export const beginOfToday = ({ day, now }: Pick<Spans, 'day' | 'now'>): number => Math.min(day, now - 1);

/**
 * The month without the present day. Days that have ended are packed: the present day's many hours are read once, for
 * today, and not a second time for the month.
 */
export async function sumMonthBefore({ now, day, month, sum }: Spans): Promise<UsageSums> {
  const end = beginOfToday({ day, now });
  return month < end ? await sum(month, end) : noUsage;
}

/**
 * The same hours of the day before. In the second half of a day this is the whole day, which is packed, without its few
 * hours that are left.
 */
export async function sumYesterday({ now, day, sum }: Spans): Promise<UsageSums> {
  const begin = day - daySeconds;
  const end = Math.max(begin + 1, now - daySeconds);
  if (end - begin <= daySeconds / 2 || end >= day) return await sum(begin, end);
  const [whole, rest] = await Promise.all([sum(begin, day), sum(end, day)]);
  return addUsage(whole, rest, -1);
}
