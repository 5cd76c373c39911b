import { existsSync } from 'node:fs';

import type { PriceBookStore, PublishedPriceBook } from '../../billing/price-books/price-book-store.ts';
import { findNewestBook } from '../../billing/price-books/publish-prices.ts';
import { readPublishedBook } from '../../billing/price-books/published-book.ts';
import { type PriceBookData, PriceBookError } from '../../billing/rating/parse-price-book.ts';
import { parsePriceBasis } from '../../billing/rating/price-basis.ts';
import { readDatabaseConfig } from '../config/find-config.ts';
import { type LoadedConfig, loadConfig } from '../config/load-config.ts';
import { type Environment, StartError } from '../environment.ts';
import { readKeptPrices } from '../assembly/kept-prices.ts';
import { databasePath } from '../assembly/open-data-directory.ts';
import { readPriceFile } from './read-price-file.ts';
import { readStore } from './with-accounts.ts';

/** Reads price books from the store. Undefined if there is no database yet. */
export async function readPriceBooks<Result>(
  environment: Environment,
  read: (store: PriceBookStore) => Promise<Result>,
): Promise<Result | undefined> {
  if (readDatabaseConfig(environment) === undefined && !existsSync(databasePath(environment.dataDirectory))) return undefined;
  return await readStore(environment, read);
}

/**
 * The configuration of a gateway with the published price book. If the database cannot be reached, the book is the last
 * one that this gateway stored, and a message on standard error says so.
 */
export async function loadConfigAndPrices(environment: Environment): Promise<LoadedConfig> {
  return loadConfig(environment.configPath, environment, { published: await readPublished(environment) });
}

async function readPublished(environment: Environment): Promise<PublishedPriceBook | undefined> {
  try {
    return await readPriceBooks(environment, findNewestBook);
  } catch (error) {
    const kept = readKeptPrices(environment);
    if (kept === undefined) throw error;
    console.error(
      `weir: ${error instanceof Error ? error.message : String(error)}; using book ${kept.number}, the last one that this gateway loaded`,
    );
    return kept;
  }
}

/**
 * The book with this name: `shipped`, the number of a published book, the price version of a receipt, or a file.
 * @throws StartError if there is no such book; for a file, it names every problem
 */
export async function readNamedBook(environment: Environment, name: string): Promise<PriceBookData> {
  const number = /^(?:store-)?([1-9]\d{0,14})$/.exec(name)?.[1];
  try {
    if (number !== undefined) {
      const found = await readPriceBooks(environment, (store) => store.findPriceBook(Number(number)));
      if (found === undefined) throw new StartError(`the store has no price book ${number}; weir prices history lists them`);
      return readPublishedBook(found);
    }
    if (!name.includes('+') || existsSync(name)) return readPriceFile(name);
    return parsePriceBasis((await findRecorded(environment, name)).basis).book;
  } catch (error) {
    if (error instanceof PriceBookError) throw new StartError(error.message, { cause: error });
    throw error;
  }
}

/** The recorded prices of a version. @throws StartError if the store does not have them */
export async function findRecorded(
  environment: Environment,
  version: string,
): Promise<{ readonly basis: string; readonly recordedAtMs: number }> {
  const found = await readPriceBooks(environment, (store) => store.findRecordedPrices(version));
  if (found === undefined) throw new StartError(`the store has no prices of version ${version}`);
  return found;
}
