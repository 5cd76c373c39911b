import type { Command } from 'commander';

import { encodeBook } from '../../admin/resources/prices/price-book-summary.ts';
import { parsePriceBasis, type PriceBasis } from '../../billing/rating/price-basis.ts';
import { createPriceBook } from '../../billing/rating/price-book.ts';
import { type Environment, StartError } from '../environment.ts';
import { type ListedBook, listRemoteBooks, readRemoteVersion } from './remote/remote-prices.ts';
import { addRemoteOption, printItems, type RemoteOption } from './remote/with-service.ts';
import { inert } from './usage/terminal-text.ts';
import { findRecorded, readPriceBooks } from './stored-prices.ts';
import { alignColumns, printTable } from './with-accounts.ts';

const listedMax = 1000;

/** Adds `weir prices history` (the published books) and `weir prices version` (the prices of a receipt). */
export function addPriceHistoryCommands(prices: Command, environment: () => Environment): void {
  addRemoteOption(prices.command('history'))
    .description('lists the price books that were published to the store, the newest first; diff and export take their numbers')
    .option('--json', 'as JSON')
    .action(async ({ json, ...place }: JsonOption) => {
      const books = await listPublished(environment(), place);
      if (json === true) printItems(books);
      else if (books.length === 0) console.log('No price book is published: the shipped one and the files of configurations are used.');
      else printTable(['NUMBER', 'BOOK', 'SCOPE', 'FROM', 'PUBLISHED', 'BY', 'DIGEST', 'NOTE'], books.map(columnsOf));
    });
  addRemoteOption(prices.command('version'))
    .description('shows the prices behind the price version of a receipt, and verifies that they match the version')
    .argument('<version>', 'price version of a receipt, such as 2026-11-22+store-4+1f2e3d4c')
    .option('--json', 'everything, as JSON')
    .action((version: string, options: JsonOption) => showVersion(environment(), version, options));
}

type JsonOption = RemoteOption & { readonly json?: boolean };

async function listPublished(environment: Environment, place: RemoteOption): Promise<readonly ListedBook[]> {
  if (place.remote !== undefined) return await listRemoteBooks(environment, place, listedMax);
  const books = await readPriceBooks(environment, (store) => store.listPriceBooks({ limit: listedMax }));
  return (books ?? []).map(encodeBook);
}

const timeOf = (atMs: number): string => new Date(atMs).toISOString();

function columnsOf({ number, label, scope, effective_from, published_at, actor, digest, note }: ListedBook): string[] {
  return [String(number), inert(label), scope, effective_from, published_at, inert(actor), digest.slice(0, 12), inert(note ?? '')];
}

/** The prices of a version, and when they were first in force. @throws StartError if they were changed since */
async function readVersion(
  environment: Environment,
  version: string,
  place: RemoteOption,
): Promise<{ readonly basis: PriceBasis; readonly recordedAt: string }> {
  const changed = (): StartError => new StartError(`the prices stored as ${version} do not have this version: they were changed`);
  if (place.remote !== undefined) {
    const { basis, recordedAt } = await readRemoteVersion(environment, place, version);
    if (basis === undefined) throw changed();
    return { basis, recordedAt };
  }
  const { basis: text, recordedAtMs } = await findRecorded(environment, version);
  const basis = parsePriceBasis(text);
  if (createPriceBook(basis).version !== version) throw changed();
  return { basis, recordedAt: timeOf(recordedAtMs) };
}

async function showVersion(environment: Environment, version: string, { json, ...place }: JsonOption): Promise<void> {
  const { basis, recordedAt } = await readVersion(environment, version, place);
  if (json === true) {
    const { book, overrides = [], toolPrices = {}, factors = {} } = basis;
    return printItems({ version, recorded_at: recordedAt, book, overrides, toolPrices, factors });
  }
  const names = basis.book.version.split('+');
  const published = (await listPublished(environment, place)).find(({ number }) => names.includes(`store-${number}`));
  for (const line of describeVersion(version, basis, published, recordedAt)) console.log(line);
}

function describeVersion(version: string, basis: PriceBasis, published: ListedBook | undefined, recordedAt: string): readonly string[] {
  const { book, overrides = [], toolPrices = {}, factors = {} } = basis;
  const { users = {}, keys = {} } = factors;
  const list = (prices: Readonly<Record<string, string | undefined>>): string =>
    Object.entries(prices)
      .map(([name, price]) => `${inert(name)} ${price ?? ''}`)
      .join(', ');
  return alignColumns([
    [version, 'matches its prices'],
    ['  first seen in force', recordedAt],
    ['  books', `${book.version}: ${book.entries.length} entries; weir prices export ${version} writes them`],
    ...(published === undefined ? [] : [['  published', columnsOf(published).join('  ').trimEnd()]]),
    ['  models with prices of the configuration', overrides.map(({ model }) => inert(model)).join(', ') || 'none'],
    ['  tools', list({ ...toolPrices }) || 'none'],
    ['  factors of users', list(users) || 'none'],
    ['  factors of keys', list(keys) || 'none'],
  ]);
}
