import type { ReplyHeaders } from '../../../platform/http/reply-head.ts';

/** RFC 9110, section 5.6.7, in the only form that may be sent. Date.parse alone accepts almost any text. */
const httpDate = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;
/** Whole seconds by the standard. Some vendors send fractions, or the unit. */
const seconds = /^(\d{1,15}(?:\.\d{1,15})?) ?s?$/;
const milliseconds = /^(\d{1,15}(?:\.\d{1,15})?)$/;

function single(value: string | readonly string[] | undefined): string {
  return (typeof value === 'string' ? value : (value?.[0] ?? '')).trim();
}

function dateMs(value: string): number | undefined {
  if (!httpDate.test(value)) return undefined;
  const parsed = Date.parse(value);
  return Number.isNaN(parsed) ? undefined : parsed;
}

/**
 * The time that an upstream asks clients to wait, in milliseconds from 0: `retry-after-ms`, which is finer, or else
 * `retry-after` as seconds or as a date. A date is relative to the upstream's own `date` if there is one, because
 * clocks differ. Undefined without a readable value.
 * @param nowMs wall-clock time, for a date without an upstream `date`
 */
export function parseRetryAfter(headers: ReplyHeaders, nowMs: number): number | undefined {
  const exact = milliseconds.exec(single(headers['retry-after-ms']));
  if (exact !== null) return Number(exact[1]);
  const value = single(headers['retry-after']);
  const delay = seconds.exec(value);
  if (delay !== null) return Number(delay[1]) * 1000;
  const untilMs = dateMs(value);
  return untilMs === undefined ? undefined : Math.max(0, untilMs - (dateMs(single(headers.date)) ?? nowMs));
}

/** Whether the upstream says that retries are useless. */
export function forbidsRetry(headers: ReplyHeaders): boolean {
  return single(headers['x-should-retry']).toLowerCase() === 'false';
}

/** The advice about retries in the headers of an upstream's answer, if there was one. */
export function readRetryAdvice(
  headers: ReplyHeaders | undefined,
  nowMs: number,
): { retryAfterMs?: number | undefined; isRetryForbidden?: boolean } {
  return headers === undefined ? {} : { retryAfterMs: parseRetryAfter(headers, nowMs), isRetryForbidden: forbidsRetry(headers) };
}
