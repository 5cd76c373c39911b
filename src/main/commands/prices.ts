import type { Command } from 'commander';

import { diffPriceBooks } from '../../billing/rating/diff-price-books.ts';
import { mergePriceBooks } from '../../billing/rating/merge-price-books.ts';
import type { PriceBookData } from '../../billing/rating/parse-price-book.ts';
import { createPriceBook } from '../../billing/rating/price-book.ts';
import { systemClock } from '../../platform/clock.ts';
import { buildPriceBook } from '../config/build-price-book.ts';
import type { LoadedConfig } from '../config/load-config.ts';
import { sourcesOf } from '../../billing/price-books/price-layers.ts';
import type { Environment } from '../environment.ts';
import { alignColumns, printTable } from './with-accounts.ts';
import { type ImportCommandOptions, importPriceList } from './prices-import.ts';
import { type ListPricesOptions, priceColumns, readListedDay, selectPrices } from './prices-list.ts';
import { addPriceHistoryCommands } from './prices-history.ts';
import { describeHidden } from './prices-publish.ts';
import { addStagedPriceCommands } from './prices-stage.ts';
import { readPriceFile } from './read-price-file.ts';
import { listRemotePrices, readRemoteBook } from './remote/remote-prices.ts';
import { addRemoteOption, type RemoteOption } from './remote/with-service.ts';
import { loadConfigAndPrices, readNamedBook } from './stored-prices.ts';

/** Adds `weir prices …`: the prices of calls and price files. Without --remote no command needs a running gateway. */
export function addPriceCommands(program: Command, environment: () => Environment): void {
  const prices = program.command('prices').description('the price book in force, published books, and price files');
  addRemoteOption(prices.command('list'))
    .description('lists prices of the book in force')
    .option('--vendor <vendor>', 'only prices of this vendor')
    .option('--model <text>', 'only models whose name contains this text')
    .option('--at <date>', 'prices of this day (UTC), such as 2026-12-31; all shows every time window; default: today')
    .option('--json', 'as JSON, with all members of the entries')
    .action(async (options: ListPricesOptions & RemoteOption & { readonly json?: boolean }) => {
      const entries = await listEntries(environment(), options);
      const header = ['VENDOR', 'MODEL', 'SINCE', 'INPUT', 'CACHED', 'WRITE', 'OUTPUT', 'BESIDES', 'CHECKED', 'SOURCE'];
      if (options.json === true)
        console.log(
          JSON.stringify(
            entries.map(({ entry, source }) => ({ ...entry, from_book: source })),
            undefined,
            2,
          ),
        );
      else
        printTable(
          header,
          entries.flatMap(({ entry, source }) => priceColumns(entry, source)),
        );
    });
  prices
    .command('check')
    .description(
      'checks a price book file or, without one, the books of the configuration and the store; names every problem, and exits with 1 if there is any',
    )
    .argument('[file]', 'price book in YAML or JSON')
    .action(async (file: string | undefined) => {
      if (file === undefined) {
        for (const line of describeLayers(await loadConfigAndPrices(environment()))) console.log(line);
        return;
      }
      const book = readPriceFile(file);
      const models = new Set(book.entries.map(({ vendor, model }) => `${vendor}/${model}`)).size;
      console.log(
        `The price book is good: ${models} models, ${book.entries.length} entries, version ${createPriceBook({ book }).version}.`,
      );
    });
  addFileCommands(prices, environment);
  addPriceHistoryCommands(prices, environment);
  addStagedPriceCommands(prices, environment);
}

/** The prices of a day, with the layer of each. @throws StartError if the day is not valid */
async function listEntries(environment: Environment, options: ListPricesOptions & RemoteOption) {
  const { vendor, model, at } = options;
  const query = {
    ...(vendor !== undefined && { vendor }),
    ...(model !== undefined && { model }),
    at: readListedDay(at, systemClock.nowMs()),
  };
  if (options.remote !== undefined) return await listRemotePrices(environment, options, query);
  const { priceBookData, layers } = await loadConfigAndPrices(environment);
  const sources = sourcesOf(layers);
  return selectPrices(priceBookData, query).map((entry) => ({ entry, source: sources.get(`${entry.vendor}/${entry.model}`) ?? '' }));
}

/** Adds the commands that compare, import and export books. */
function addFileCommands(prices: Command, environment: () => Environment): void {
  addRemoteOption(prices.command('diff'))
    .description('compares two books; with one book, shows how it would change the book in force')
    .argument('<book>', 'price book file, number of a published book, version of a receipt, or shipped for the book of this release')
    .argument('[other]', 'the other one')
    .option('--whole', 'the one book replaces the book in force instead of extending it')
    .option('--json', 'as JSON')
    .action(async (file: string, other: string | undefined, { json, whole, ...place }: DiffOptions) => {
      const read = createBookReader(environment(), place);
      const before = await read(other === undefined ? undefined : file);
      const named = await read(other ?? file);
      const isWhole = other !== undefined || file === 'shipped' || whole === true;
      const after = isWhole ? named : mergePriceBooks(before, named);
      const changes = diffPriceBooks(before, after);
      if (json === true) console.log(JSON.stringify(changes, undefined, 2));
      else if (changes.length === 0) console.log('No price differs.');
      else
        printTable(
          ['ENTRY', 'WHAT', 'BEFORE', 'AFTER'],
          changes.map(({ entry, member, before: old = '-', after: young = '-' }) => [entry, member === '' ? 'entry' : member, old, young]),
        );
    });
  prices
    .command('import')
    .description("converts another program's price list into a price book on standard output; names what it could not import")
    .argument('<file>', 'model_prices_and_context_window.json of LiteLLM, data of genai-prices, or the ratios of new-api')
    .option('--format <format>', 'litellm, genai-prices or new-api; default: recognised from the file')
    .option('--vendor <vendor>', 'imports every model as a model of this vendor')
    .option('--since <date>', 'first day (UTC) of the prices; default: today')
    .action((file: string, options: ImportCommandOptions) => importPriceList(file, options, systemClock.nowMs()));
  addRemoteOption(prices.command('export'))
    .description('writes the price book in force, or the named book, as JSON to standard output')
    .argument('[book]', 'number of a published book, version of a receipt, or shipped')
    .action(async (name: string | undefined, place: RemoteOption) => {
      console.log(JSON.stringify(await createBookReader(environment(), place)(name), undefined, 2));
    });
}

type DiffOptions = RemoteOption & { readonly json?: boolean; readonly whole?: boolean };

/** Reads books by their names; without a name, the prices in force without the overrides of single models. */
function createBookReader(environment: Environment, place: RemoteOption): (name: string | undefined) => Promise<PriceBookData> {
  return async (name) => {
    if (place.remote !== undefined) return await readRemoteBook(environment, place, name);
    return name === undefined ? (await loadConfigAndPrices(environment)).priceBookData : await readNamedBook(environment, name);
  };
}

/** The books that the prices come from, in order of precedence, and the prices of each that are not used. */
function describeLayers(loaded: LoadedConfig): readonly string[] {
  const { config, priceBookData, layers } = loaded;
  return [
    `The prices are good: ${buildPriceBook(config, priceBookData).version}. Books in order of precedence:`,
    ...alignColumns(
      layers.toReversed().map(({ source, book }) => [`  ${source}`, `version ${book.version}`, `${book.entries.length} entries`]),
    ),
    ...describeHidden(loaded).map((line) => `  ${line}`),
  ];
}
