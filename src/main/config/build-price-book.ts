import { modelSpellings } from '../../billing/rating/model-spellings.ts';
import type { PriceBookData, PriceBookEntry } from '../../billing/rating/parse-price-book.ts';
import type { PriceBasis } from '../../billing/rating/price-basis.ts';
import { createPriceBook, type PriceOverride } from '../../billing/rating/price-book.ts';
import type { PriceBook } from '../../billing/rating/rating.ts';
import { upstreamVendors } from '../../upstreams/registry.ts';
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
  return {
    book: withStandIns(config, book),
    overrides: priceOverrides(config),
    ...(toolPrices === undefined ? {} : { toolPrices }),
    factors,
  };
}

function priceOverrides(config: Config): readonly PriceOverride[] {
  return Object.entries(config.models ?? {}).flatMap(([model, { price }]) => (price === undefined ? [] : [{ model, ...price }]));
}

/**
 * The book with a price for each target whose name stands for a model (`is`), if the book has that model and not the
 * name itself: at the target's vendor, or at the maker of the model.
 */
function withStandIns({ models = {}, upstreams = {} }: Config, book: PriceBookData): PriceBookData {
  const added = new Map<string, readonly PriceBookEntry[]>();
  for (const [name, { targets }] of Object.entries(models)) {
    for (const { upstream, model = name, is: named } of targets) {
      const vendor = upstreams[upstream]?.vendor;
      const is = named ?? (vendor === undefined ? undefined : upstreamVendors[vendor].modelBehind?.(model));
      if (vendor === undefined || is === undefined || entriesOf(book, [vendor], model).length > 0) continue;
      const entries = entriesOf(book, [vendor, ...(upstreamVendors[vendor].makers ?? [])], is);
      added.set(
        `${vendor} ${model}`,
        entries.map((entry) => ({ ...entry, vendor, model })),
      );
    }
  }
  return added.size === 0 ? book : { ...book, entries: [...book.entries, ...[...added.values()].flat()] };
}

/** The entries of a model at the first of these vendors that has it, by the first of its spellings. */
function entriesOf({ entries }: PriceBookData, vendors: readonly string[], model: string): readonly PriceBookEntry[] {
  for (const vendor of vendors) {
    for (const spelling of modelSpellings(model)) {
      const found = entries.filter((entry) => entry.vendor === vendor && entry.model === spelling);
      if (found.length > 0) return found;
    }
  }
  return [];
}
