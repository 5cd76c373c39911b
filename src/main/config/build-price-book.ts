import type { PriceBookData } from '../../billing/rating/parse-price-book.ts';
import { createPriceBook, type PriceOverride } from '../../billing/rating/price-book.ts';
import type { PriceBook } from '../../billing/rating/rating.ts';
import type { Config } from './config-schema.ts';
import { pricesOf } from './prices-schema.ts';

/** The prices of a configuration: those of its book with its own over them. */
export function buildPriceBook(config: Config, book: PriceBookData): PriceBook {
  const toolPrices = config.tools?.prices;
  return createPriceBook({
    book,
    overrides: priceOverrides(config),
    ...(toolPrices === undefined ? {} : { toolPrices }),
    ...priceSettings(config),
  });
}

function priceOverrides(config: Config): readonly PriceOverride[] {
  return Object.entries(config.models ?? {}).flatMap(([model, { price }]) => (price === undefined ? [] : [{ model, ...price }]));
}

function priceSettings(config: Config): Pick<Parameters<typeof createPriceBook>[0], 'factors' | 'credits' | 'unlisted'> {
  const { users, keys, credits, unlisted } = pricesOf(config.prices);
  const factors = { ...(users === undefined ? {} : { users }), ...(keys === undefined ? {} : { keys }) };
  return {
    factors,
    ...(unlisted === undefined ? {} : { unlisted }),
    ...(credits === undefined ? {} : { credits: { name: credits.name ?? 'credits', perUsd: credits.perUsd } }),
  };
}
