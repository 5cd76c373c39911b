import { loadShippedPriceBook } from '../rating/load-shipped-price-book.ts';
import { mergePriceBooks } from '../rating/merge-price-books.ts';
import { type PriceBookData, type PriceBookEntry, PriceBookError, parsePriceBook } from '../rating/parse-price-book.ts';
import type { PublishedPriceBook } from './price-book-store.ts';
import { readPublishedBook, versionOfBook } from './published-book.ts';
import { readPriceBook } from './read-price-book.ts';

/** One of several price books in an order. The entries of a model in a higher book replace those in all lower books. */
export type PriceLayer = {
  /** `shipped`, `store-4`, or the name of the file. */
  readonly source: string;
  readonly book: PriceBookData;
};

/**
 * The books that all gateways of a database share, the lowest first: the shipped one, unless a whole book is published,
 * and the published one.
 * @throws PriceBookError
 */
export function sharedLayers(published: PublishedPriceBook | undefined): readonly PriceLayer[] {
  const shipped = { source: 'shipped', book: loadShippedPriceBook() };
  if (published === undefined) return [shipped];
  const layer = { source: versionOfBook(published), book: readPublishedBook(published) };
  return published.scope === 'whole' ? [layer] : [shipped, layer];
}

/** The shared books with the file of a configuration on top. In mode replace, the file alone. @throws PriceBookError */
export function priceLayers(
  published: PublishedPriceBook | undefined,
  file: { readonly name: string; readonly text: string } | undefined,
  mode: 'merge' | 'replace' | undefined,
): readonly PriceLayer[] {
  if (file === undefined) return sharedLayers(published);
  const layer = { source: file.name, book: readPriceBook(file.text) };
  return mode === 'replace' ? [layer] : [...sharedLayers(published), layer];
}

/** Joins layers into one book. @throws PriceBookError if names that are valid in each layer conflict in the result */
export function joinLayers(layers: readonly PriceLayer[]): PriceBookData {
  const [lowest, ...others] = layers.map(({ book }) => book);
  if (lowest === undefined) throw new PriceBookError(['There is no price book.']);
  return others.length === 0 ? lowest : parsePriceBook(others.reduce(mergePriceBooks, lowest));
}

/** The model of an entry, by which a layer hides lower ones. */
export const modelOfEntry = ({ vendor, model }: PriceBookEntry): string => `${vendor}/${model}`;

/** The source of each model of the joined book, by `vendor/model`. */
export function sourcesOf(layers: readonly PriceLayer[]): ReadonlyMap<string, string> {
  return new Map(layers.flatMap(({ source, book }) => book.entries.map((entry) => [modelOfEntry(entry), source] as const)));
}

/** Models of one layer that a higher layer replaces. */
export type HiddenModels = { readonly source: string; readonly by: string; readonly models: readonly string[] };

export function findHidden(layers: readonly PriceLayer[]): readonly HiddenModels[] {
  const highest = sourcesOf(layers);
  return layers.flatMap(({ source, book }) => {
    const models = [...new Set(book.entries.map(modelOfEntry))].filter((model) => highest.get(model) !== source);
    return [...Map.groupBy(models, (model) => highest.get(model) ?? '')].map(([by, hidden]) => ({ source, by, models: hidden }));
  });
}
