import type { PriceBasis } from '../rating/price-basis.ts';
import type { PriceOverride } from '../rating/price-override.ts';
import type { PriceBookData } from '../rating/price-book-schema.ts';
import type { PriceBook } from '../rating/rating.ts';
import type { PriceLayer } from './price-layers.ts';
import type { PublishedPriceBook } from './price-book-store.ts';

/** The prices of a gateway: the shipped and published books, and what its configuration adds. */
export type LoadedPrices = {
  /** The books, the lowest first. */
  readonly layers: readonly PriceLayer[];
  /** All layers as one book. */
  readonly book: PriceBookData;
  /** Prices of single models in the configuration, which are above all layers. */
  readonly overrides: readonly PriceOverride[];
  /** What calls are charged with. */
  readonly prices: PriceBook;
};

/** Prices as a gateway with this program's configuration loads them. */
export type PriceDesk = {
  /**
   * The prices of this configuration with a published book.
   * @throws PriceBookError if a gateway would refuse them
   */
  readonly load: (published: PublishedPriceBook | undefined) => LoadedPrices;
  /** The same book with other layers: prices of staged calls. @throws PriceBookError */
  readonly price: (book: PriceBookData) => PriceBook;
  /** What `price` makes them from, as data. */
  readonly basisOf: (book: PriceBookData) => PriceBasis;
};
