import type { Fraction } from '../rating/decimal.ts';
import { readNumber } from '../rating/fraction.ts';
import { ExportError, type VendorUsage } from './vendor-usage.ts';

/**
 * What a cost is for, as far as both sides have a word for it: classes of tokens, with sound and pictures in them, and what tools of the vendor cost. What a vendor names otherwise keeps the vendor's
 * words, and has nothing of ours beside it.
 */
export const costItems = ['input', 'cache_read', 'cache_write_5m', 'cache_write_1h', 'output', 'web_search', 'code_session'] as const;

/** Where costs stand that are of no single model. */
export const noModel = '-';

/** One cost of a vendor, of a bucket that begins at a moment. */
export type VendorCost = {
  /** The vendor's name of the model, or `noModel`. */
  readonly model: string;
  readonly startMs: number;
  /** One of `costItems`, the vendor's own words, or `all` where the export does not say what it is for. */
  readonly item: string;
  /** In USD; below 0 for what was given back. */
  readonly usd: Fraction;
};

/** A vendor's own account of its costs, read from an export. */
export type VendorCosts = Pick<VendorUsage, 'timeZone' | 'startMs' | 'endMs' | 'unread'> & { readonly costs: readonly VendorCost[] };

/** An amount in USD, or in cents, written as a number or as text. @throws ExportError naming the place */
export function readUsd(value: unknown, place: string, per = 1n): Fraction {
  const number = typeof value === 'number' || typeof value === 'string' ? readNumber(String(value)) : undefined;
  if (number === undefined) throw new ExportError(`${place} is no amount`);
  return { numerator: number.numerator, denominator: number.denominator * per };
}

/** @throws ExportError for another currency: amounts are compared in USD */
export function checkCurrency(currency: unknown, place: string): void {
  if (String(currency).toUpperCase() !== 'USD')
    throw new ExportError(`${place} is ${String(currency).slice(0, 16)}, and only USD can be compared`);
}
