import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { PublishedPriceBook } from '../../billing/price-books/price-book-store.ts';
import { digestOfBook } from '../../billing/price-books/published-book.ts';
import { parseJsonObject } from '../../platform/json/parse-json.ts';
import { nameKept } from '../config/find-config.ts';
import type { Environment } from '../environment.ts';

const fileName = 'prices.published.json';

/**
 * The price book of a shared database that this gateway had in force last, as its data directory keeps it: a start without the database prices as before. Undefined where none is kept, where it is
 * damaged or that of another database, and where the database lies in the data directory itself.
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
  // Only this program writes it.
  const kept = parseJsonObject(text) as { readonly name?: string; readonly published?: PublishedPriceBook } | undefined;
  const published = kept?.name === name ? kept.published : undefined;
  return published !== undefined && digestOfBook(published.book) === published.digest ? published : undefined;
}

/** Keeps a book that has come into force, whole; without one, none is kept. Throws what the file system throws. */
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
