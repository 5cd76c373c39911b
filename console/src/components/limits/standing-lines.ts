import type { Reply } from '../../api/client.ts';
import { nanosOf, shareOf } from '../../format/money.ts';

type Standing = Reply<'standing.get'>;
export type MoneyLine = Pick<
  Standing['money'][number],
  'level' | 'of' | 'limit' | 'spent' | 'reserved' | 'left' | 'is_used_up' | 'resets_at'
>;
export type RateLine = Standing['rates'][number];

/** The part of a limit or balance that is used, from 0 to 1; undefined if it is unknown to the reader. */
export function usedShare({ limit, left, is_used_up: isUsedUp }: MoneyLine): number | undefined {
  if (limit === null || left === null) return undefined;
  const whole = nanosOf(limit);
  if (whole <= 0n) return isUsedUp ? 1 : 0;
  return shareOf(whole - nanosOf(left), whole);
}

/** How a share is shown: from 80 % as a warning, and used up as bad. */
export function toneOf(share: number, isUsedUp: boolean): 'plain' | 'warning' | 'bad' {
  if (isUsedUp || share >= 1) return 'bad';
  return share >= 0.8 ? 'warning' : 'plain';
}

export const moneyNames = { day: 'a day', month: 'a month', total: 'in all', balance: 'balance' } as const;
export const rateNames = { requests: 'requests a minute', tokens: 'tokens a minute', concurrency: 'calls at a time' } as const;
export const levelNames = { key: 'Key', user: 'User', team: 'Team', organization: 'Organization', model: 'Model' } as const;
