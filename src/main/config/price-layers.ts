import { loadShippedPriceBook } from '../../billing/rating/load-shipped-price-book.ts';
import { mergePriceBooks } from '../../billing/rating/merge-price-books.ts';
import { type PriceBookData, type PriceBookEntry, PriceBookError, parsePriceBook } from '../../billing/rating/parse-price-book.ts';
import type { PublishedPriceBook } from '../../billing/price-books/price-book-store.ts';
import { readPublishedBook, versionOfBook } from '../../billing/price-books/published-book.ts';
import type { ConfiguredPrices } from './prices-schema.ts';
import { readPriceBook } from './read-price-book.ts';

/** One of the books that lie on top of each other: what the higher one says of a model takes the place of all that the lower ones say of it. */
export type PriceLayer = {
  /** Where it is from: `shipped`, `store-4`, or the name of the file. */
  readonly source: string;
  readonly book: PriceBookData;
};

/** The books that every gateway of a database has: the shipped one, unless a whole book is published, and the published one. The lowest comes first. @throws PriceBookError */
export function sharedLayers(published: PublishedPriceBook | undefined): readonly PriceLayer[] {
  const shipped = { source: 'shipped', book: loadShippedPriceBook() };
  if (published === undefined) return [shipped];
  const layer = { source: versionOfBook(published), book: readPublishedBook(published) };
  return published.scope === 'whole' ? [layer] : [shipped, layer];
}

/** The same with the file of a configuration on top, which stands alone where it is to replace the others. @throws PriceBookError */
export function priceLayers(
  published: PublishedPriceBook | undefined,
  file: { readonly name: string; readonly text: string } | undefined,
  mode: ConfiguredPrices['mode'],
): readonly PriceLayer[] {
  if (file === undefined) return sharedLayers(published);
  const layer = { source: file.name, book: readPriceBook(file.text) };
  return mode === 'replace' ? [layer] : [...sharedLayers(published), layer];
}

/** The book that layers come to. @throws PriceBookError: names that are sound in each may clash in all */
export function joinLayers(layers: readonly PriceLayer[]): PriceBookData {
  const [lowest, ...others] = layers.map(({ book }) => book);
  if (lowest === undefined) throw new PriceBookError(['There is no price book.']);
  return others.length === 0 ? lowest : parsePriceBook(others.reduce(mergePriceBooks, lowest));
}

const modelOf = ({ vendor, model }: PriceBookEntry): string => `${vendor}/${model}`;

/** Which layer each model of the joined book is from, by `vendor/model`. */
export function sourcesOf(layers: readonly PriceLayer[]): ReadonlyMap<string, string> {
  return new Map(layers.flatMap(({ source, book }) => book.entries.map((entry) => [modelOf(entry), source] as const)));
}

/** Models of one layer that a higher one hides, by the layer that hides them. */
export type HiddenModels = { readonly source: string; readonly by: string; readonly models: readonly string[] };

export function findHidden(layers: readonly PriceLayer[]): readonly HiddenModels[] {
  const highest = sourcesOf(layers);
  return layers.flatMap(({ source, book }) => {
    const models = [...new Set(book.entries.map(modelOf))].filter((model) => highest.get(model) !== source);
    return [...Map.groupBy(models, (model) => highest.get(model) ?? '')].map(([by, hidden]) => ({ source, by, models: hidden }));
  });
}
