import { parsePriceBook, PriceBookError, type PriceBookData } from '../parse-price-book.ts';
import type { RatedCall } from '../rating.ts';
import type { Usage } from '../../../inference/usage.ts';

// For tests: entries, books and calls that are valid unless a test changes them.

export const acceptedAtMs = Date.UTC(2026, 10, 20);

export function plainEntry(more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    vendor: 'acme',
    model: 'm-1',
    displayName: 'M 1',
    effectiveFrom: '2026-01-01',
    tiers: [{ inputAbove: 0, prices: { input: '2', output: '10' } }],
    source: 'the vendor',
    checked: '2026-01-02',
    ...more,
  };
}

export function bookOf(...entries: Record<string, unknown>[]): PriceBookData {
  return parsePriceBook({ version: 'test', currency: 'USD', entries });
}

export function callOf(usage: Usage, more: Partial<RatedCall> = {}): RatedCall {
  return { vendor: 'acme', upstreamModel: 'm-1', requestedModel: 'm-1', acceptedAtMs, usage, ...more };
}

/** Every problem of a book; empty if it is valid. */
export function problemsOf(json: unknown): readonly string[] {
  try {
    parsePriceBook(json);
    return [];
  } catch (error) {
    if (error instanceof PriceBookError) return error.problems;
    throw error;
  }
}
