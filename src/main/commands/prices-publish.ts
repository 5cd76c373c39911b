import { closeSync, copyFileSync, fsyncSync, openSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';

import { onlyModelsOf } from '../../billing/staging/stage-price-book.ts';
import { type PriceBookData, parsePriceBook } from '../../billing/rating/parse-price-book.ts';
import { buildPriceBook } from '../config/build-price-book.ts';
import { type LoadedConfig, loadConfig, pricesPathOf } from '../config/load-config.ts';
import { pricesOf } from '../config/prices-schema.ts';
import { readPriceBook } from '../config/read-price-book.ts';
import { type Environment, StartError } from '../environment.ts';

/**
 * Writes prices that were staged into the price file of the configuration, whole or not at all; the file as it was is kept beside it as `<file>.before`. A running gateway reads it when it sees the
 * change.
 * @param loaded the configuration in force
 * @param publication `file`: what was staged; `inForce`: the book that results; `output`: writes there instead
 * @returns what was done, for people
 * @throws StartError where the configuration names no price file
 */
export function publishPrices(
  { configPath, variable }: Environment,
  loaded: LoadedConfig,
  publication: { readonly file: PriceBookData; readonly inForce: PriceBookData; readonly from: string; readonly output?: string },
): string {
  const { file, inForce, from, output } = publication;
  const text = `${JSON.stringify(bookOfFile(loaded, file, inForce), undefined, 2)}\n`;
  const models = new Set(file.entries.map(({ vendor, model }) => `${vendor}/${model}`)).size;
  const done = (path: string): string => `${path}: ${models} models have new prices from ${from} on`;
  if (output !== undefined) {
    replaceFile(output, text);
    return done(output);
  }
  const path = pricesPathOf(configPath, loaded.config);
  if (path === undefined) throw new StartError('the configuration names no price file: set prices.file, or write one with --output');
  // Read as a gateway will read it, before it is there to be read.
  const { config, priceBookData } = loadConfig(configPath, variable, { text: loaded.files.text, prices: text });
  const { version } = buildPriceBook(config, priceBookData);
  copyFileSync(path, `${path}.before`);
  replaceFile(path, text);
  return `${done(path)}; the book becomes ${version}; the file as it was is ${path}.before`;
}

/** A file that is laid on top of the shipped book takes all windows of a model from it: so the file has those of the past too, and no model that nobody named. */
function bookOfFile({ config, files }: LoadedConfig, file: PriceBookData, inForce: PriceBookData): PriceBookData {
  if (pricesOf(config.prices).mode === 'replace') return inForce;
  const own = files.prices === undefined ? [] : [readPriceBook(files.prices)];
  return parsePriceBook(onlyModelsOf(inForce, [...own, file]));
}

/** Writes a file beside and renames it, so that no reader and no crash ever sees half of it. */
function replaceFile(path: string, text: string): void {
  const draft = `${path}.${process.pid}.draft`;
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0o644;
  try {
    const handle = openSync(draft, 'w', mode);
    try {
      writeFileSync(handle, text);
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
    renameSync(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
}
