import type { Body, Reply } from '../../api/client.ts';
import { quote } from '../../api/equivalents.ts';
import { instantIn, showMinute } from '../../format/times.ts';

export type Limits = Reply<'keys.get'>['limits'];
export type LimitName = keyof Limits;
export type LimitsChange = NonNullable<Body<'keys.update'>['limits']>;
/** What the fields of a form have. Empty: no limit. */
export type LimitsDraft = Readonly<Record<LimitName, string>>;

const numbers = ['requests_per_minute', 'tokens_per_minute', 'concurrency', 'media_retention_days', 'media_bytes_max'] as const;
const lists = ['models', 'upstreams', 'addresses'] as const;
const amounts = ['spend_per_day_usd', 'spend_per_month_usd', 'spend_total_usd'] as const;

/** The option of the command line for each limit. */
const options: Readonly<Record<LimitName, string>> = {
  requests_per_minute: '--rpm',
  tokens_per_minute: '--tpm',
  concurrency: '--concurrency',
  models: '--models',
  upstreams: '--upstreams',
  addresses: '--addresses',
  spend_per_day_usd: '--spend-per-day',
  spend_per_month_usd: '--spend-per-month',
  spend_total_usd: '--spend-total',
  media_retention_days: '--media-days',
  media_bytes_max: '--media-bytes',
  expires_at: '--expires',
};

export const emptyDraft = Object.fromEntries(Object.keys(options).map((name) => [name, ''])) as LimitsDraft;

/** The limits as the fields of a form show them; times on the clocks of a zone. */
export function draftOf(limits: Limits, zone: string): LimitsDraft {
  const listed = (value: readonly string[] | null): string => value?.join(', ') ?? '';
  return {
    ...(Object.fromEntries([...numbers, ...amounts].map((name) => [name, limits[name]?.toString() ?? ''])) as LimitsDraft),
    ...Object.fromEntries(lists.map((name) => [name, listed(limits[name])])),
    expires_at: limits.expires_at === null ? '' : showMinute(limits.expires_at, zone).replace(' ', 'T'),
  };
}

/** The words of a list with commas. */
export function readList(text: string): readonly string[] {
  return text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
}

/**
 * The limits that a form has changed; null takes one away. A text that is no number goes to the server as it is, which
 * says what would be right.
 */
export function changeOf(before: LimitsDraft, after: LimitsDraft, zone: string): LimitsChange {
  const isNew = (name: LimitName): boolean => before[name].trim() !== after[name].trim();
  const change: Record<string, unknown> = {};
  for (const name of numbers.filter(isNew)) change[name] = readNumber(after[name]);
  for (const name of amounts.filter(isNew)) change[name] = after[name].trim() === '' ? null : after[name].trim();
  for (const name of lists.filter(isNew)) change[name] = readList(after[name]).length === 0 ? null : readList(after[name]);
  if (isNew('expires_at')) change['expires_at'] = readExpiry(after.expires_at, zone);
  return change;
}

function readNumber(text: string): number | string | null {
  if (text.trim() === '') return null;
  const number = Number(text.replaceAll(/[\s_]/g, ''));
  return Number.isFinite(number) ? number : text;
}

function readExpiry(text: string, zone: string): string | null {
  if (text === '') return null;
  const atMs = instantIn(text, zone);
  return Number.isNaN(atMs) ? text : new Date(atMs).toISOString();
}

/** The options of the command line for a change, each with a space before it. */
export function optionsOf(change: LimitsChange): string {
  return Object.entries(change)
    .map(([name, value]) => ` ${options[name as LimitName]} ${value === null ? 'none' : quote([value].flat().join(','))}`)
    .join('');
}

/** Whether a name is allowed by a list of names, in which `prefix*` matches all names with this prefix. */
export function isAllowed(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => (pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern));
}
