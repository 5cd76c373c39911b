import type { Reply } from '../../api/client.ts';
import { nanosOf, showUsd } from '../../format/money.ts';
import { showCount } from '../../format/numbers.ts';

export type Key = Reply<'keys.list'>['items'][number];
type Limits = Key['limits'];

/** The limits of a key in one line; "none" if there are none. */
export function describeLimits(limits: Limits): string {
  const words = [
    limits.spend_per_day_usd === null ? undefined : `${showUsd(limits.spend_per_day_usd)} a day`,
    limits.spend_per_month_usd === null ? undefined : `${showUsd(limits.spend_per_month_usd)} a month`,
    limits.spend_total_usd === null ? undefined : `${showUsd(limits.spend_total_usd)} in all`,
    limits.requests_per_minute === null ? undefined : `${showCount(limits.requests_per_minute)} requests a minute`,
    limits.tokens_per_minute === null ? undefined : `${showCount(limits.tokens_per_minute)} tokens a minute`,
    limits.concurrency === null ? undefined : `${showCount(limits.concurrency)} at a time`,
    limits.models === null ? undefined : `models ${limits.models.join(', ')}`,
    limits.upstreams === null ? undefined : `upstreams ${limits.upstreams.join(', ')}`,
    limits.addresses === null ? undefined : `from ${limits.addresses.join(', ')}`,
  ].filter((word) => word !== undefined);
  return words.length === 0 ? 'none' : words.join(', ');
}

/** The last use of a key that has none recorded. Gateways record uses once a minute, and book calls at once. */
export function unrecordedUse({ spent_this_month: spent }: Pick<Key, 'spent_this_month'>): string {
  return nanosOf(spent) === 0n ? 'never' : 'just now';
}

export const keyStates = {
  active: { sign: '●', word: 'active', tone: 'good' },
  disabled: { sign: '○', word: 'disabled', tone: 'muted' },
  expired: { sign: '✗', word: 'expired', tone: 'bad' },
} as const;
