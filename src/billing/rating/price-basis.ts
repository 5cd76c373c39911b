import { PriceBookError, parsePriceBook, type PriceBookData } from './parse-price-book.ts';
import type { PriceFactors } from './price-factors.ts';
import type { PriceOverride } from './price-override.ts';
import type { ToolPrices } from './tool-prices.ts';

/** Everything that the charges of a price version are computed from. The same version means the same content. */
export type PriceBasis = {
  readonly book: PriceBookData;
  readonly overrides?: readonly PriceOverride[];
  readonly toolPrices?: ToolPrices;
  readonly factors?: PriceFactors;
};

/**
 * Parses a basis that was stored as JSON by this program. Checks its book like that of a file; the rest is checked when
 * a price book is created from it.
 * @throws SyntaxError, PriceBookError
 */
export function parsePriceBasis(text: string): PriceBasis {
  const parsed: unknown = JSON.parse(text);
  if (parsed === null || typeof parsed !== 'object' || !('book' in parsed))
    throw new PriceBookError(['The text is not a stored price basis.']);
  // This program wrote the other members; if they were changed, the version of the price book differs.
  return { ...(parsed as PriceBasis), book: parsePriceBook(parsed.book) };
}
