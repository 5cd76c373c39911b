import { PriceBookError, parsePriceBook, type PriceBookData } from './parse-price-book.ts';
import type { PriceFactors } from './price-factors.ts';
import type { PriceOverride } from './price-override.ts';
import type { ToolPrices } from './tool-prices.ts';

/** All that the charges of a price version are computed from. Two of the same version have the same content. */
export type PriceBasis = {
  readonly book: PriceBookData;
  readonly overrides?: readonly PriceOverride[];
  readonly toolPrices?: ToolPrices;
  readonly factors?: PriceFactors;
};

/**
 * Reads a basis that was kept as JSON by this program. Its book is checked as a file's is, and the rest by whoever makes a price book of it.
 * @throws SyntaxError, PriceBookError
 */
export function parsePriceBasis(text: string): PriceBasis {
  const kept: unknown = JSON.parse(text);
  if (kept === null || typeof kept !== 'object' || !('book' in kept)) throw new PriceBookError(['These are no prices that were kept.']);
  // What else it has this program wrote; a price book whose version comes out otherwise shows that somebody changed it.
  return { ...(kept as PriceBasis), book: parsePriceBook(kept.book) };
}
