import { toStorableText } from '../storable-text.ts';
import type { SqlValue } from './sql-values.ts';

/** A part of the rows of calls by time of acceptance and id. */
export type PageOfCalls = {
  readonly startMs: number;
  readonly endMs: number;
  /** The last row of the page before. */
  readonly after?: { readonly acceptedAtMs: number; readonly callId: string };
};

/**
 * The condition of the rows of a page. Its first bound is at the last row of the page before: SQLite searches its index
 * by that bound alone, and from the beginning of the span it would read all pages before this one again.
 */
export function isInPage({ startMs, endMs, after }: PageOfCalls): { readonly sql: string; readonly parameters: readonly SqlValue[] } {
  const bounds = 'accepted_at_ms >= ? and accepted_at_ms < ?';
  if (after === undefined) return { sql: bounds, parameters: [startMs, endMs] };
  const { acceptedAtMs, callId } = after;
  return {
    sql: `${bounds} and (accepted_at_ms, call_id) > (?, ?)`,
    parameters: [Math.max(startMs, acceptedAtMs), endMs, acceptedAtMs, toStorableText(callId)],
  };
}
