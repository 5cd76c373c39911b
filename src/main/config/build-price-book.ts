import type { PriceBookData } from '../../billing/rating/parse-price-book.ts';
import type { PriceBasis } from '../../billing/rating/price-basis.ts';
import { createPriceBook, type PriceOverride } from '../../billing/rating/price-book.ts';
import type { PriceBook } from '../../billing/rating/rating.ts';
import type { Config } from './config-schema.ts';
import { pricesOf } from './prices-schema.ts';
import { creditUnitOf } from './read-credit-unit.ts';

/** The prices of a configuration: those of its book with its own over them. */
export function buildPriceBook(config: Config, book: PriceBookData): PriceBook {
  const prices = pricesOf(config.prices);
  const { unlisted } = prices;
  const credits = creditUnitOf(prices);
  return createPriceBook({
    ...priceBasisOf(config, book),
    ...(unlisted === undefined ? {} : { unlisted }),
    ...(credits === undefined ? {} : { credits }),
  });
}

/** All that charges are computed from under a configuration. */
export function priceBasisOf(config: Config, book: PriceBookData): PriceBasis {
  const toolPrices = config.tools?.prices;
  const { users, keys } = pricesOf(config.prices);
  const factors = { ...(users === undefined ? {} : { users }), ...(keys === undefined ? {} : { keys }) };
  return { book, overrides: priceOverrides(config), ...(toolPrices === undefined ? {} : { toolPrices }), factors };
}

function priceOverrides(config: Config): readonly PriceOverride[] {
  return Object.entries(config.models ?? {}).flatMap(([model, { price }]) => (price === undefined ? [] : [{ model, ...price }]));
}
