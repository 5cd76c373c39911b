import type { Command } from 'commander';

import type { PriceBookSummary } from '../../billing/price-books/price-book-store.ts';
import { versionOfBook } from '../../billing/price-books/published-book.ts';
import { parsePriceBasis, type PriceBasis } from '../../billing/rating/price-basis.ts';
import { createPriceBook } from '../../billing/rating/price-book.ts';
import { type Environment, StartError } from '../environment.ts';
import { inert } from './usage/terminal-text.ts';
import { findRecorded, readPriceBooks } from './stored-prices.ts';
import { alignColumns, printTable } from './with-accounts.ts';

const listedMax = 1000;

/** Adds `weir prices history` (the published books) and `weir prices version` (the prices of a receipt). */
export function addPriceHistoryCommands(prices: Command, environment: () => Environment): void {
  prices
    .command('history')
    .description('lists the price books that were published to the store, the newest first; diff and export take their numbers')
    .option('--json', 'as JSON')
    .action(async ({ json }: { readonly json?: boolean }) => {
      const books = (await readPriceBooks(environment(), (store) => store.listPriceBooks({ limit: listedMax }))) ?? [];
      if (json === true) console.log(JSON.stringify(books.map(describeAsJson), undefined, 2));
      else if (books.length === 0) console.log('No price book is published: the shipped one and the files of configurations are used.');
      else printTable(['NUMBER', 'BOOK', 'SCOPE', 'FROM', 'PUBLISHED', 'BY', 'DIGEST', 'NOTE'], books.map(columnsOf));
    });
  prices
    .command('version')
    .description('shows the prices behind the price version of a receipt, and verifies that they match the version')
    .argument('<version>', 'price version of a receipt, such as 2026-11-22+store-4+1f2e3d4c')
    .option('--json', 'everything, as JSON')
    .action(async (version: string, { json }: { readonly json?: boolean }) => await showVersion(environment(), version, json === true));
}

const timeOf = (atMs: number): string => new Date(atMs).toISOString();

function columnsOf({ number, label, scope, effectiveFrom, publishedAtMs, actor, digest, note = '' }: PriceBookSummary): string[] {
  return [String(number), inert(label), scope, effectiveFrom, timeOf(publishedAtMs), inert(actor), digest.slice(0, 12), inert(note)];
}

function describeAsJson({ number, label, scope, effectiveFrom, publishedAtMs, actor, digest, note = null }: Nullable<PriceBookSummary>) {
  return { number, label, scope, effective_from: effectiveFrom, published_at: timeOf(publishedAtMs), actor, digest, note };
}

type Nullable<Summary> = Omit<Summary, 'note'> & { readonly note?: string | null };

async function showVersion(environment: Environment, version: string, json: boolean): Promise<void> {
  const { basis: text, recordedAtMs } = await findRecorded(environment, version);
  const basis = parsePriceBasis(text);
  const computed = createPriceBook(basis).version;
  if (computed !== version) throw new StartError(`the prices stored as ${version} have the version ${computed}: they were changed`);
  if (json) {
    console.log(JSON.stringify({ version, recorded_at: timeOf(recordedAtMs), ...basis }, undefined, 2));
    return;
  }
  const books = (await readPriceBooks(environment, (store) => store.listPriceBooks({ limit: listedMax }))) ?? [];
  const names = basis.book.version.split('+');
  const published = books.find((book) => names.includes(versionOfBook(book)));
  for (const line of describeVersion(version, basis, published, recordedAtMs)) console.log(line);
}

function describeVersion(
  version: string,
  basis: PriceBasis,
  published: PriceBookSummary | undefined,
  recordedAtMs: number,
): readonly string[] {
  const { book, overrides = [], toolPrices = {}, factors = {} } = basis;
  const { users = {}, keys = {} } = factors;
  const list = (prices: Readonly<Record<string, string | undefined>>): string =>
    Object.entries(prices)
      .map(([name, price]) => `${inert(name)} ${price ?? ''}`)
      .join(', ');
  return alignColumns([
    [version, 'matches its prices'],
    ['  first seen in force', timeOf(recordedAtMs)],
    ['  books', `${book.version}: ${book.entries.length} entries; weir prices export ${version} writes them`],
    ...(published === undefined ? [] : [['  published', columnsOf(published).join('  ').trimEnd()]]),
    ['  models with prices of the configuration', overrides.map(({ model }) => inert(model)).join(', ') || 'none'],
    ['  tools', list({ ...toolPrices }) || 'none'],
    ['  factors of users', list(users) || 'none'],
    ['  factors of keys', list(keys) || 'none'],
  ]);
}
