import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';

import { Command } from 'commander';

import type { PublishedPriceBook } from '../../billing/price-books/price-book-store.ts';
import { createPublishedBook } from '../../billing/price-books/published-book.ts';
import { parsePriceBook } from '../../billing/rating/parse-price-book.ts';
import type { PriceBasis } from '../../billing/rating/price-basis.ts';
import { plainEntry } from '../../billing/rating/testing/price-book-kit.ts';
import { createPriceBook } from '../../billing/rating/price-book.ts';
import { systemClock } from '../../platform/clock.ts';
import { priceBasisOf } from '../config/build-price-book.ts';
import { loadConfig } from '../config/load-config.ts';
import { joinLayers, sharedLayers } from '../../billing/price-books/price-layers.ts';
import { readEnvironment } from '../environment.ts';
import { openDatabase } from '../assembly/open-data-directory.ts';
import { addPriceCommands } from './prices.ts';
import { findNewestBook } from '../../billing/price-books/publish-prices.ts';
import { changeAt } from '../../audit/testing/test-change.ts';

const dayMs = 86_400_000;
const dayFromNow = (days: number): string => new Date(systemClock.nowMs() + days * dayMs).toISOString().slice(0, 10);

/** Stops the clock, so that no midnight passes between a test's computation and the command. */
const stopClock = (context: TestContext): void => context.mock.timers.enable({ apis: ['Date'], now: Date.UTC(2026, 10, 22, 12) });

/** A book with input prices for models of a vendor that is not in the shipped book. */
const bookText = (version: string, prices: Readonly<Record<string, string>>): string =>
  JSON.stringify({
    version,
    currency: 'USD',
    entries: Object.entries(prices).map(([model, input]) =>
      plainEntry({ model, tiers: [{ inputAbove: 0, prices: { input, output: '10' } }] }),
    ),
  });

/** A data directory, and functions that run commands on it. */
function setUp(context: TestContext, config = 'upstreams: {}\n') {
  stopClock(context);
  const directory = mkdtempSync(join(tmpdir(), 'weir-publish-'));
  context.after(() => rmSync(directory, { recursive: true, force: true }));
  const write = (name: string, text: string): void => writeFileSync(join(directory, name), text);
  write('weir.yaml', config);
  const environment = readEnvironment({ WEIR_DATA_DIR: directory, WEIR_CONFIG: join(directory, 'weir.yaml') });
  const output = context.mock.method(console, 'log', () => {});
  const notices = context.mock.method(console, 'error', () => {});
  const run = async (...words: readonly string[]): Promise<{ printed: string; notice: string }> => {
    for (const mock of [output, notices]) mock.mock.resetCalls();
    const program = new Command().exitOverride().configureOutput({ writeErr: () => {} });
    addPriceCommands(program, () => environment);
    await program.parseAsync(['prices', ...words.map((word) => (word.endsWith('.json') ? join(directory, word) : word))], { from: 'user' });
    const textOf = (calls: readonly { readonly arguments: readonly unknown[] }[]): string =>
      calls.map((call) => call.arguments.join(' ')).join('\n');
    return { printed: textOf(output.mock.calls), notice: textOf(notices.mock.calls) };
  };
  const withStore = async <Result>(use: (store: Awaited<ReturnType<typeof openDatabase>>) => Promise<Result>): Promise<Result> => {
    const store = await openDatabase(environment);
    try {
      return await use(store);
    } finally {
      await store.close();
    }
  };
  /** Loads the prices as a gateway does, and computes the cost of a million tokens, `days` from now. */
  const costsOf = async (model: string, ...days: readonly number[]): Promise<readonly number[]> => {
    const published = await withStore(findNewestBook);
    const { config: read, priceBookData } = loadConfig(environment.configPath, environment, { published });
    const book = createPriceBook(priceBasisOf(read, priceBookData));
    return days.map((day) => {
      const acceptedAtMs = systemClock.nowMs() + day * dayMs;
      const call = { vendor: 'acme', upstreamModel: model, requestedModel: model, acceptedAtMs, usage: { inputTokens: 1_000_000 } };
      return Number(book.rate(call).amountNanoUsd) / 1e9;
    });
  };
  return { run, write, withStore, costsOf };
}

test('a published book applies from its day on, together with earlier publications', async (context) => {
  const { run, write, costsOf } = setUp(context);
  write('one.json', bookText('ours-1', { 'm-1': '2', 'm-2': '4' }));
  write('two.json', bookText('ours-2', { 'm-1': '3' }));
  const { printed } = await run('publish', 'one.json', '--from', dayFromNow(0), '--note', 'first prices');
  assert.match(printed, /^published as book 1 \([0-9a-f]{12}\): 2 models have new prices .* the prices are .*\+store-1\+[0-9a-f]{8}$/);
  await run('publish', 'two.json', '--from', dayFromNow(3));
  assert.deepEqual(await costsOf('m-1', 0, 2, 4), [2, 2, 3]);
  assert.deepEqual(await costsOf('m-2', 4), [4]);
  const { printed: list } = await run('list', '--model', 'm-1', '--at', 'all');
  assert.equal(list.match(/acme .* store-2$/gm)?.length, 2, list);
  const { printed: history } = await run('history');
  assert.match(
    history,
    /^2 +ours-2 +override +\S+ +\S+Z +\S+ +[0-9a-f]{12}\n1 +ours-1 +override +\S+ +\S+Z +\S+ +[0-9a-f]{12} +first prices$/m,
  );
});

/** Published books of one model at these prices, numbered from 1. */
const publishedAt = (...prices: readonly string[]): readonly PublishedPriceBook[] =>
  prices.map((price, index) => {
    const about = {
      number: index + 1,
      label: 'ours',
      scope: 'override',
      effectiveFrom: dayFromNow(0),
      publishedAtMs: 0,
      actor: 'ann',
    } as const;
    return createPublishedBook(parsePriceBook(JSON.parse(bookText('ours', { 'm-1': price }))), about);
  });

test('diff, export and check find stored books by number, and check names the file that overrides them', async (context) => {
  const { run, write, withStore } = setUp(context, 'prices: { file: own.json }\n');
  write('own.json', bookText('local', { 'm-1': '7' }));
  await withStore((store) => Promise.all(publishedAt('2', '3').map((book) => store.insertPriceBook(book, changeAt()))));
  assert.match((await run('diff', '1', 'store-2')).printed, /^acme\/m-1@\S+ +tiers\.0\.prices\.input +2 +3$/m);
  const exported = JSON.parse((await run('export', '2')).printed) as { version: string; entries: unknown[] };
  assert.deepEqual([exported.version, exported.entries.length], ['store-2', 1]);
  await assert.rejects(run('export', '9'), /no price book 9/);
  await assert.rejects(run('export', 'a+store-1+b'), /the store has no prices of version a\+store-1\+b/);
  const hidden = /own\.json overrides the prices of store-2 for these models: acme\/m-1$/;
  assert.match((await run('check')).printed, /good: .*\n {2}own\.json +version local.*\n {2}store-2 .*\n {2}shipped .*\n/);
  assert.match((await run('check')).printed, hidden);
  write('weir.yaml', 'prices: own.json\n');
  assert.match((await run('publish', 'own.json', '--from', dayFromNow(1))).notice, /only own\.json applies/);
});

test('of two simultaneous publications one is refused, and the other is complete', async (context) => {
  const { run, write, withStore } = setUp(context);
  write('one.json', bookText('ours-1', { 'm-1': '2' }));
  write('two.json', bookText('ours-2', { 'm-2': '3' }));
  const both = await Promise.allSettled(['one.json', 'two.json'].map((file) => run('publish', file, '--from', dayFromNow(0))));
  const refused = both.filter((each) => each.status === 'rejected');
  for (const { reason } of refused) assert.match(String(reason), /book 1 was published by another operator/);
  const newest = await withStore(findNewestBook);
  assert.equal(newest?.number, 2 - refused.length);
  assert.equal((JSON.parse(newest.book) as { entries: unknown[] }).entries.length, newest.number);
});

test('version shows the prices behind a receipt, and refuses prices that were changed in the database', async (context) => {
  const { run, withStore } = setUp(context);
  const [published] = publishedAt('2');
  assert.ok(published);
  const basis: PriceBasis = {
    book: joinLayers(sharedLayers(published)),
    overrides: [{ model: 'own', input: '1', output: '2' }],
    factors: { users: { alice: '0.9' } },
  };
  const { version } = createPriceBook(basis);
  await withStore(async (store) => {
    await store.insertPriceBook(published, changeAt());
    for (const name of [version, 'x+y']) await store.recordPrices({ version: name, basis: JSON.stringify(basis), recordedAtMs: 0 });
  });
  const { printed } = await run('version', version);
  for (const words of [
    /matches its prices/,
    /1970-01-01T00:00:00\.000Z/,
    /published +1 {2}ours .*ann/,
    /prices of the configuration +own/,
    /alice 0\.9/,
  ])
    assert.match(printed, words);
  assert.deepEqual(JSON.parse((await run('export', version)).printed), basis.book);
  await assert.rejects(run('version', 'x+y'), /they were changed/);
});
