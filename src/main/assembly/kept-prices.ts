import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { PublishedPriceBook } from '../../billing/price-books/price-book-store.ts';
import { digestOfBook } from '../../billing/price-books/published-book.ts';
import { parseJsonObject } from '../../platform/json/parse-json.ts';
import { nameKept } from '../config/find-config.ts';
import type { Environment } from '../environment.ts';

const fileName = 'prices.published.json';

/**
 * The last price book of a shared database, from the data directory, so that a start without the database uses the same
 * prices. Undefined if there is none, if it is damaged or from another database, or if the database is in the data
 * directory.
 */
export function readKeptPrices(environment: Environment): PublishedPriceBook | undefined {
  const name = nameKept('prices', environment);
  if (name === undefined) return undefined;
  let text: string;
  try {
    text = readFileSync(pathOf(environment), 'utf8');
  } catch {
    return undefined;
  }
  // Only this program writes the file.
  const kept = parseJsonObject(text) as { readonly name?: string; readonly published?: PublishedPriceBook } | undefined;
  const published = kept?.name === name ? kept.published : undefined;
  return published !== undefined && digestOfBook(published.book) === published.digest ? published : undefined;
}

/** Stores the book in force; undefined removes it. Throws errors of the file system. */
export function keepPrices(environment: Environment, published: PublishedPriceBook | undefined): void {
  const name = nameKept('prices', environment);
  const path = pathOf(environment);
  if (name === undefined || published === undefined) {
    rmSync(path, { force: true });
    return;
  }
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, JSON.stringify({ name, published }), { mode: 0o600, flush: true });
  renameSync(draft, path);
}

const pathOf = ({ dataDirectory }: Environment): string => join(dataDirectory, fileName);
