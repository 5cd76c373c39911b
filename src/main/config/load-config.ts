import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

import { loadShippedPriceBook } from '../../billing/rating/load-shipped-price-book.ts';
import { parsePriceBook, PriceBookError, type PriceBookData } from '../../billing/rating/parse-price-book.ts';
import { parseJson } from '../../platform/json/parse-json.ts';
import type { Config } from './config-schema.ts';
import { ConfigError, readConfig } from './read-config.ts';

/** The text that the files of a configuration have, so that a change of any of them is seen. */
export type ConfigFiles = { readonly text: string; readonly prices: string | undefined };

export type LoadedConfig = { readonly config: Config; readonly priceBookData: PriceBookData; readonly files: ConfigFiles };

/** Reads the configuration file, or stands for an empty one when there is none. */
function readText(path: string | undefined): string {
  return path === undefined ? '' : readFileSync(path, 'utf8');
}

function readPrices(path: string, known: string | undefined): { readonly text: string; readonly data: PriceBookData } {
  const text = known ?? readFileSync(path, 'utf8');
  return { text, data: parsePriceBook(parseJson(text)) };
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
  if (config.prices === undefined) return { config, priceBookData: loadShippedPriceBook(), files: { text, prices: undefined } };
  const pricesPath = resolve(dirname(resolve(file)), config.prices);
  try {
    const prices = readPrices(pricesPath, files?.prices);
    return { config, priceBookData: prices.data, files: { text, prices: prices.text } };
  } catch (error) {
    const reason = error instanceof PriceBookError ? error.message : `it cannot be read (${String(error)})`;
    throw new ConfigError(file, [{ line: 1, column: 1, path: 'prices', message: `${pricesPath}: ${reason}` }]);
  }
}

/** The files' present text, to see whether anything has changed. */
export function readConfigFiles(path: string | undefined, config: Config): ConfigFiles {
  const pricesPath = config.prices === undefined ? undefined : resolve(dirname(resolve(path ?? 'weir.yaml')), config.prices);
  return { text: readText(path), prices: pricesPath === undefined ? undefined : readText(pricesPath) };
}
