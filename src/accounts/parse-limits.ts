import { parseNetwork } from '../platform/http/address-list.ts';
import {
  type AccessLimitsChange,
  listEntriesMax,
  mediaLimitsMax,
  modelCharactersMax,
  rateLimitsMax,
  upstreamCharactersMax,
} from './access-limits.ts';
import { AccountsError } from './accounts-error.ts';

/** Limits as an operator writes them. `none` removes a limit. */
export type WrittenLimits = {
  readonly rpm?: string;
  readonly tpm?: string;
  readonly concurrency?: string;
  readonly models?: string;
  readonly upstreams?: string;
  readonly addresses?: string;
  readonly mediaDays?: string;
  readonly mediaBytes?: string;
  readonly expires?: string;
  readonly spendPerDay?: string;
  readonly spendPerMonth?: string;
  readonly spendTotal?: string;
};

const dayMs = 86_400_000;
const durationUnitsMs: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: dayMs };

const refuse = (field: string, text: string, right: string): AccountsError =>
  new AccountsError('invalid_limit', `${field} must be ${right}, or none; got "${text.slice(0, 100)}".`);

/**
 * Reads limits. Amounts are integers; lists are separated by commas. `expires` is a day (`2026-12-31`, valid to its end
 * in UTC), an instant (`2026-12-31T12:00:00Z`) or a duration from now (`90d`, `12h`, `30m`). `mediaBytes` may have a
 * unit (`500MiB`). Spend limits are USD with at most nine places.
 * @throws AccountsError `invalid_limit` with the field, its value and what would be right
 */
export function parseLimits(written: WrittenLimits, nowMs: number): AccessLimitsChange {
  const { rpm, tpm, concurrency, models, upstreams, addresses, mediaDays, mediaBytes, expires, spendPerDay, spendPerMonth, spendTotal } =
    written;
  return {
    ...(rpm === undefined ? {} : { requestsPerMinute: parseAmount('rpm', rpm, rateLimitsMax.requestsPerMinute) }),
    ...(tpm === undefined ? {} : { tokensPerMinute: parseAmount('tpm', tpm, rateLimitsMax.tokensPerMinute) }),
    ...(concurrency === undefined ? {} : { concurrency: parseAmount('concurrency', concurrency, rateLimitsMax.concurrency) }),
    ...(models === undefined ? {} : { models: parseNames('models', models, modelCharactersMax) }),
    ...(upstreams === undefined ? {} : { upstreams: parseNames('upstreams', upstreams, upstreamCharactersMax) }),
    ...(addresses === undefined ? {} : { addresses: parseAddresses(addresses) }),
    ...(mediaDays === undefined ? {} : { mediaRetentionDays: parseAmount('media-days', mediaDays, mediaLimitsMax.retentionDays) }),
    ...(mediaBytes === undefined ? {} : { mediaBytesMax: parseBytes(mediaBytes) }),
    ...(expires === undefined ? {} : { expiresAtMs: parseExpiry(expires, nowMs) }),
    ...(spendPerDay === undefined ? {} : { spendPerDay: parseSpend('spend-per-day', spendPerDay) }),
    ...(spendPerMonth === undefined ? {} : { spendPerMonth: parseSpend('spend-per-month', spendPerMonth) }),
    ...(spendTotal === undefined ? {} : { spendTotal: parseSpend('spend-total', spendTotal) }),
  };
}

function parseAmount(field: string, text: string, most: number): number | null {
  if (text === 'none') return null;
  const amount = /^[0-9]{1,10}$/.test(text) ? Number(text) : 0;
  if (amount < 1 || amount > most) throw refuse(field, text, `an integer from 1 to ${most}`);
  return amount;
}

/** F15: a negative amount or one with an exponent is refused. */
function parseSpend(field: string, text: string): string | null {
  if (text === 'none') return null;
  if (!/^(?:0|[1-9][0-9]{0,8})(?:\.[0-9]{1,9})?$/.test(text))
    throw refuse(field, text, 'an amount in USD such as 25 or 0.5, with at most nine places and below a billion');
  return text;
}

const byteUnits: Readonly<Record<string, number>> = { '': 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3, TiB: 1024 ** 4 };

function parseBytes(text: string): number | null {
  if (text === 'none') return null;
  const [, count, unit = ''] = /^([0-9]{1,16})(KiB|MiB|GiB|TiB)?$/.exec(text) ?? [];
  const bytes = count === undefined ? Number.NaN : Number(count) * (byteUnits[unit] ?? Number.NaN);
  if (bytes >= 0 && bytes <= mediaLimitsMax.bytes) return bytes;
  throw refuse('media-bytes', text, `a number of bytes from 0 to ${mediaLimitsMax.bytes}, such as 500000000, 500MiB or 20GiB`);
}

/** The entries of a list without duplicates. */
function parseList(field: string, text: string, right: string): readonly string[] {
  const entries = [...new Set(text.split(',').map((entry) => entry.trim()))];
  if (entries.includes('') || entries.length > listEntriesMax) throw refuse(field, text, right);
  return entries;
}

function parseNames(field: 'models' | 'upstreams', text: string, charactersMax: number): readonly string[] | null {
  if (text === 'none') return null;
  const right = `1 to ${listEntriesMax} names separated by commas, each at most ${charactersMax} characters with a * at its end only`;
  const names = parseList(field, text, right).map((name) => (field === 'models' ? withoutCollection(name) : name));
  const isName = (name: string): boolean => name !== '' && name.length <= charactersMax && !name.slice(0, -1).includes('*');
  if (!names.every(isName)) throw refuse(field, text, right);
  return names;
}

/** Gemini's clients write `models/` before the name of a model. */
function withoutCollection(name: string): string {
  return name.startsWith('models/') ? name.slice('models/'.length) : name;
}

function parseAddresses(text: string): readonly string[] | null {
  if (text === 'none') return null;
  const right = `1 to ${listEntriesMax} addresses or networks separated by commas, such as 10.0.0.0/8,2001:db8::/32`;
  const addresses = parseList('addresses', text, right);
  const wrong = addresses.find((address) => parseNetwork(address) === undefined);
  if (wrong !== undefined) throw refuse('addresses', wrong, right);
  return addresses;
}

function parseExpiry(text: string, nowMs: number): number | null {
  if (text === 'none') return null;
  const right =
    'a time in the future: a day such as 2026-12-31, an instant such as 2026-12-31T12:00:00Z, or a duration from now such as 90d, 12h or 30m';
  const atMs = readInstant(text, nowMs);
  if (atMs === undefined || atMs <= nowMs) throw refuse('expires', text, right);
  return atMs;
}

/**
 * Reads a moment: a day (its begin in UTC), an instant, or a duration from now (`30d`), with `isPast` before now.
 * @param field the option, for the error
 * @throws AccountsError `invalid_limit`
 */
export function parseInstant(
  field: string,
  text: string,
  { nowMs, isPast = false }: { readonly nowMs: number; readonly isPast?: boolean },
): number {
  const duration = readDuration(text);
  if (duration !== undefined) return isPast ? nowMs - duration : nowMs + duration;
  const atMs = readInstant(text, nowMs);
  if (atMs === undefined)
    throw new AccountsError(
      'invalid_limit',
      `${field} must be a day such as 2026-12-31, an instant such as 2026-12-31T12:00:00Z, or a duration such as 90d, 12h or 30m; got "${text.slice(0, 100)}".`,
    );
  return isDay(text) ? atMs - dayMs : atMs;
}

function readDuration(text: string): number | undefined {
  const [, count, unit] = /^([0-9]{1,6})([mhd])$/.exec(text) ?? [];
  return count === undefined || unit === undefined ? undefined : Number(count) * (durationUnitsMs[unit] ?? 0);
}

const isDay = (text: string): boolean => /^\d{4}-\d{2}-\d{2}$/.test(text);

function readInstant(text: string, nowMs: number): number | undefined {
  const duration = readDuration(text);
  if (duration !== undefined) return nowMs + duration;
  if (!isDay(text) && !/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})$/.test(text)) return undefined;
  const atMs = Date.parse(text);
  // The parser reads a day that does not exist, such as 31 June, as another day.
  if (Number.isNaN(atMs) || (isDay(text) && !new Date(atMs).toISOString().startsWith(text))) return undefined;
  return isDay(text) ? atMs + dayMs : atMs;
}
