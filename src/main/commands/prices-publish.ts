import { commandAuthor } from './name-actor.ts';
import { findHidden } from '../../billing/price-books/price-layers.ts';
import type { LoadedPrices } from '../../billing/price-books/price-desk.ts';
import { PublicationError, publishPrices } from '../../billing/price-books/publish-prices.ts';
import type { PriceBookSummary } from '../../billing/price-books/price-book-store.ts';
import { versionOfBook } from '../../billing/price-books/published-book.ts';
import { type PriceBookData, parsePriceBook } from '../../billing/rating/parse-price-book.ts';
import { onlyModelsOf, stagePriceBook } from '../../billing/staging/stage-price-book.ts';
import { type LoadedConfig, pricesPathOf } from '../config/load-config.ts';
import { pricesOf } from '../config/prices-schema.ts';
import { readPriceBook } from '../../billing/price-books/read-price-book.ts';
import { type Environment, StartError } from '../environment.ts';
import { ensureDataDirectory, openDatabase } from '../assembly/open-data-directory.ts';
import { createPriceDesk } from '../assembly/create-price-desk.ts';
import { replaceFile } from './replace-file.ts';

/** The facts of a publication besides its prices. */
export type AboutPublication = Pick<PriceBookSummary, 'publishedAtMs' | 'actor' | 'note'> & {
  /** The first day (UTC) of the new prices. */
  readonly from: string;
  /** From that day on, only the file applies: neither the shipped book nor earlier publications. */
  readonly whole: boolean;
  /** URL of the PostgreSQL database with a role that may publish. */
  readonly url?: string | undefined;
};

/**
 * Adds a price book to the store. Every gateway of the database loads it within seconds.
 * @returns the outcome as text, followed by warnings
 * @throws StartError or, if the resulting book is not valid, PriceBookError naming every problem. Nothing is published.
 */
export async function publishToStore(environment: Environment, file: PriceBookData, about: AboutPublication): Promise<readonly string[]> {
  ensureDataDirectory(environment.dataDirectory);
  const store = await openDatabase(environment, about.url === undefined ? {} : { url: about.url });
  try {
    const desk = createPriceDesk(environment);
    const change = { ...commandAuthor(), atMs: about.publishedAtMs };
    const { book: next, loaded } = await publishPrices({ store, desk }, file, about, change).catch(describeRefusal);
    const { number, digest } = next;
    const source = versionOfBook(next);
    const hidden = findHidden(loaded.layers)
      .filter((each) => each.source === source)
      .map(({ by, models }) => ({ layer: by, models }));
    return [
      describePublication(file, { number, digest, from: about.from, version: loaded.prices.version }),
      ...describeUnused(
        source,
        loaded.layers.map((layer) => layer.source),
        hidden,
      ),
    ];
  } finally {
    await store.close();
  }
}

function describeRefusal(error: unknown): never {
  if (!(error instanceof PublicationError)) throw error;
  if (error.code === 'role') throw new StartError(`${error.message}: give --url with a role that may`, { cause: error });
  throw new StartError(`${error.message}; see weir prices history, and publish again`, { cause: error });
}

/** Says what was published. */
export function describePublication(
  { entries }: PriceBookData,
  { number, digest, from, version }: { readonly number: number; readonly digest: string; readonly from: string; readonly version: string },
): string {
  const models = new Set(entries.map(({ vendor, model }) => `${vendor}/${model}`)).size;
  return `published as book ${number} (${digest.slice(0, 12)}): ${models} models have new prices from ${from} on; gateways have it within seconds; with this configuration the prices are ${version}`;
}

type Hidden = { readonly layer: string; readonly models: readonly string[] };

/** Warns of prices of a published book that the configuration does not use. */
export function describeUnused(source: string, layers: readonly string[], hidden: readonly Hidden[]): readonly string[] {
  if (!layers.includes(source))
    return [`With this configuration the book is not used: prices.mode is replace, so only ${layers[0] ?? 'the file'} applies.`];
  return hidden.map(({ layer, models }) => `${layer} overrides the prices of ${source} for these models: ${models.join(', ')}`);
}

/** Describes for people the prices of lower layers that this configuration does not use. */
export function describeHidden({ layers }: Pick<LoadedPrices, 'layers'>): readonly string[] {
  return findHidden(layers).map(
    ({ source: below, by, models }) => `${by} overrides the prices of ${below} for these models: ${models.join(', ')}`,
  );
}

/**
 * Writes prices atomically into a file that a configuration can name. The previous file is kept as `<file>.before`. A
 * gateway that uses the file reloads it.
 * @returns the outcome as text
 * @throws PriceBookError naming every problem of the resulting book
 */
export function publishToFile(
  { configPath }: Environment,
  loaded: LoadedConfig,
  { file, from, output }: { readonly file: PriceBookData; readonly from: string; readonly output: string },
): string {
  const book = bookOfFile(loaded, file, stagePriceBook(loaded.priceBookData, file, from));
  const before = replaceFile(output, `${JSON.stringify(book, undefined, 2)}\n`) ? `; the previous file is ${output}.before` : '';
  const models = new Set(file.entries.map(({ vendor, model }) => `${vendor}/${model}`)).size;
  const unused = pricesPathOf(configPath, loaded.config) === undefined ? '; gateways use it when prices.file names it' : '';
  return `${output}: ${models} models have new prices from ${from} on${before}${unused}`;
}

/**
 * A file on top of other books replaces all price windows of a model, so it must contain the past windows too. It
 * contains only models that it had or that the new file names.
 */
function bookOfFile({ config, files }: LoadedConfig, file: PriceBookData, inForce: PriceBookData): PriceBookData {
  if (pricesOf(config.prices).mode === 'replace') return inForce;
  const own = files.prices === undefined ? [] : [readPriceBook(files.prices)];
  return parsePriceBook(onlyModelsOf(inForce, [...own, file]));
}
