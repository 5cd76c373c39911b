import type { Finding } from './finding.ts';

/** Larger differences break signatures and the times in the books, and later certificates. */
const skewWarningMs = 30_000;
const skewBadMs = 300_000;

const subject = 'clock';

/**
 * Compares this machine's clock with the median of the upstreams' clocks, so that a single wrong clock does not matter.
 */
export function checkClock(skewsMs: readonly number[]): Finding {
  const middle = skewsMs.toSorted((one, other) => one - other)[Math.floor(skewsMs.length / 2)];
  if (middle === undefined)
    return { verdict: 'none', subject, says: 'no upstream sent a date header, so there is nothing to compare with' };
  const seconds = Math.round(Math.abs(middle) / 1000);
  if (Math.abs(middle) < skewWarningMs) return { verdict: 'good', subject, says: 'it agrees with the upstreams' };
  const says = `it is ${seconds} s ${middle > 0 ? 'behind' : 'ahead of'} the upstreams'`;
  const advice = 'the books and the limits depend on it: switch time synchronisation on (timedatectl set-ntp true)';
  return { verdict: Math.abs(middle) < skewBadMs ? 'warning' : 'bad', subject, says, advice };
}
