import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

import { loadShippedPriceBook } from '../../billing/rating/load-shipped-price-book.ts';
import { mergePriceBooks } from '../../billing/rating/merge-price-books.ts';
import { PriceBookError, parsePriceBook, type PriceBookData } from '../../billing/rating/parse-price-book.ts';
import type { Config } from './config-schema.ts';
import { pricesOf } from './prices-schema.ts';
import { ConfigError, readConfig } from './read-config.ts';
import { readPriceBook } from './read-price-book.ts';

/** The text that the files of a configuration have, so that a change of any of them is seen. */
export type ConfigFiles = { readonly text: string; readonly prices: string | undefined };

export type LoadedConfig = { readonly config: Config; readonly priceBookData: PriceBookData; readonly files: ConfigFiles };

/** Reads the configuration file, or stands for an empty one when there is none. */
function readText(path: string | undefined): string {
  return path === undefined ? '' : readFileSync(path, 'utf8');
}

/** The path of the price book that a configuration names, if it names one. */
export function pricesPathOf(path: string | undefined, { prices }: Config): string | undefined {
  const { file } = pricesOf(prices);
  return file === undefined ? undefined : resolve(dirname(resolve(path ?? 'weir.yaml')), file);
}

/** The book in force: the shipped one, with or without the file's on top, or the file's alone. @throws PriceBookError */
function joinPriceBooks(text: string, { prices }: Config): PriceBookData {
  const own = readPriceBook(text);
  if (pricesOf(prices).mode === 'replace') return own;
  // Checked once more: names that are sound in each may clash in both.
  return parsePriceBook(mergePriceBooks(loadShippedPriceBook(), own));
}

/**
 * Loads the configuration file and what it refers to.
 * @param path undefined for the embedded defaults
 * @param files what the files said at another time, to be used instead of what they say now
 * @throws ConfigError with every problem and its position
 */
export function loadConfig(path: string | undefined, variable: (name: string) => string | undefined, files?: ConfigFiles): LoadedConfig {
  const file = path ?? 'weir.yaml';
  const text = files?.text ?? readText(path);
  const config = readConfig({ text, file, variable });
  const pricesPath = pricesPathOf(path, config);
  if (pricesPath === undefined) return { config, priceBookData: loadShippedPriceBook(), files: { text, prices: undefined } };
  try {
    const prices = files?.prices ?? readFileSync(pricesPath, 'utf8');
    return { config, priceBookData: joinPriceBooks(prices, config), files: { text, prices } };
  } catch (error) {
    const reason = error instanceof PriceBookError ? error.message : `it cannot be read (${String(error)})`;
    throw new ConfigError(file, [{ line: 1, column: 1, path: 'prices', message: `${pricesPath}: ${reason}` }]);
  }
}

/** The files' present text, to see whether anything has changed. */
export function readConfigFiles(path: string | undefined, config: Config): ConfigFiles {
  const pricesPath = pricesPathOf(path, config);
  return { text: readText(path), prices: pricesPath === undefined ? undefined : readText(pricesPath) };
}
