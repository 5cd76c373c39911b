import type { Fraction } from '../rating/decimal.ts';
import { readNumber } from '../rating/fraction.ts';
import { ExportError, type VendorUsage } from './vendor-usage.ts';

/** Where costs stand that are of no single model. */
export const noModel = '-';

/** One cost of a vendor, of a bucket that begins at a moment. */
export type VendorCost = {
  /** The vendor's name of the model, or `noModel`. */
  readonly model: string;
  readonly startMs: number;
  /**
   * What it is for: `input`, `cache_read`, `cache_write_5m`, `cache_write_1h`, `output` (sound and pictures in them), `web_search`, `code_session`; where nothing of these fits the vendor's own
   * words, which have nothing of ours beside them; `all` where the export does not say.
   */
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
