import { readFileSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';

import type { PublishedPriceBook } from '../../billing/price-books/price-book-store.ts';
import { PriceBookError, type PriceBookData } from '../../billing/rating/parse-price-book.ts';
import type { Config } from './config-schema.ts';
import { joinLayers, priceLayers, type PriceLayer } from '../../billing/price-books/price-layers.ts';
import { pricesOf } from './prices-schema.ts';
import { ConfigError, readConfig } from './read-config.ts';

/** The inputs of a configuration: the texts of its files, and the price book of the store. A change causes a reload. */
export type ConfigFiles = {
  readonly text: string;
  readonly prices: string | undefined;
  readonly published: PublishedPriceBook | undefined;
};

export type LoadedConfig = {
  readonly config: Config;
  /** The book in force. */
  readonly priceBookData: PriceBookData;
  /** The books that it was joined from, the lowest first. */
  readonly layers: readonly PriceLayer[];
  readonly files: ConfigFiles;
};

/** Reads a file. Without a path, the text is empty. */
function readText(path: string | undefined): string {
  return path === undefined ? '' : readFileSync(path, 'utf8');
}

/** The path of the price book that a configuration names. */
export function pricesPathOf(path: string | undefined, { prices }: Config): string | undefined {
  const { file } = pricesOf(prices);
  return file === undefined ? undefined : resolve(dirname(resolve(path ?? 'weir.yaml')), file);
}

/**
 * Loads the configuration file and the price book that it names.
 * @param path undefined for the embedded defaults
 * @param given the published price book, and earlier texts that are used instead of the present files
 * @throws ConfigError with every problem and its position
 */
export function loadConfig(
  path: string | undefined,
  variable: (name: string) => string | undefined,
  given: Partial<ConfigFiles> = {},
): LoadedConfig {
  const file = path ?? 'weir.yaml';
  const text = given.text ?? readText(path);
  const config = readConfig({ text, file, variable });
  const pricesPath = pricesPathOf(path, config);
  const { published } = given;
  try {
    const prices = pricesPath === undefined ? undefined : (given.prices ?? readFileSync(pricesPath, 'utf8'));
    const own = pricesPath === undefined || prices === undefined ? undefined : { name: basename(pricesPath), text: prices };
    const layers = priceLayers(published, own, pricesOf(config.prices).mode);
    return { config, priceBookData: joinLayers(layers), layers, files: { text, prices, published } };
  } catch (error) {
    const reason = error instanceof PriceBookError ? error.message : `it cannot be read (${String(error)})`;
    const message = pricesPath === undefined ? reason : `${pricesPath}: ${reason}`;
    throw new ConfigError(file, [{ line: 1, column: 1, path: 'prices', message }]);
  }
}

/** The present texts of the files, to detect changes. */
export function readConfigFiles(path: string | undefined, config: Config): Omit<ConfigFiles, 'published'> {
  const pricesPath = pricesPathOf(path, config);
  return { text: readText(path), prices: pricesPath === undefined ? undefined : readText(pricesPath) };
}
