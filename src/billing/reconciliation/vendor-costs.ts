import type { Fraction } from '../rating/decimal.ts';
import { readNumber } from '../rating/fraction.ts';
import { ExportError, type VendorUsage } from './vendor-usage.ts';

/** The model of costs that do not belong to a single model. */
export const noModel = '-';

/** One cost of a vendor, of the bucket that begins at `startMs`. */
export type VendorCost = {
  /** The vendor's name of the model, or `noModel`. */
  readonly model: string;
  readonly startMs: number;
  /**
   * The item: `input`, `cache_read`, `cache_write_5m`, `cache_write_1h`, `output` (audio and images included),
   * `web_search`, `code_session`. Otherwise the vendor's own name, which has no counterpart in the ledger; `all` if the
   * export does not say.
   */
  readonly item: string;
  /** In USD; negative for refunds. */
  readonly usd: Fraction;
};

/** A vendor's own statement of its costs, read from an export. */
export type VendorCosts = Pick<VendorUsage, 'timeZone' | 'startMs' | 'endMs' | 'unread'> & { readonly costs: readonly VendorCost[] };

/** An amount in USD, or in cents, written as a number or as text. @throws ExportError with the place */
export function readUsd(value: unknown, place: string, per = 1n): Fraction {
  const number = typeof value === 'number' || typeof value === 'string' ? readNumber(String(value)) : undefined;
  if (number === undefined) throw new ExportError(`${place} is not an amount`);
  return { numerator: number.numerator, denominator: number.denominator * per };
}

/** @throws ExportError for another currency: amounts are compared in USD */
export function checkCurrency(currency: unknown, place: string): void {
  if (String(currency).toUpperCase() !== 'USD')
    throw new ExportError(`${place} is ${String(currency).slice(0, 16)}, and only USD can be compared`);
}
