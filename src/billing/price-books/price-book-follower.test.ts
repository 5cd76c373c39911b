import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';

import { parsePriceBook } from '../rating/parse-price-book.ts';
import { bookOf, plainEntry } from '../rating/testing/price-book-kit.ts';
import { createPriceBookFollower } from './price-book-follower.ts';
import type { PriceBookStore, PublishedPriceBook, RecordedPrices } from './price-book-store.ts';
import { createPublishedBook, readPublishedBook } from './published-book.ts';

const createBook = (number: number, label = 'ours'): PublishedPriceBook =>
  createPublishedBook(parsePriceBook(bookOf(plainEntry())), {
    number,
    label,
    scope: 'override',
    effectiveFrom: '2026-12-01',
    publishedAtMs: 0,
    actor: 'ann',
  });

const pollMs = 2000;

/** A follower with mocked timers, over a store with `books` that can fail. */
function follow(context: TestContext, cached?: PublishedPriceBook) {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const state = { books: [] as PublishedPriceBook[], recorded: [] as RecordedPrices[], isAway: false, isDeaf: false, questions: 0 };
  const answer = async <Value>(value: () => Value): Promise<Value> => {
    state.questions += 1;
    if (state.isAway) throw new Error('away');
    return await (state.isDeaf ? new Promise<never>(() => {}) : Promise.resolve(value()));
  };
  const store: Pick<PriceBookStore, 'newestPriceBook' | 'findPriceBook' | 'recordPrices'> = {
    newestPriceBook: () => answer(() => state.books.at(-1)),
    findPriceBook: (number) => answer(() => state.books.find((book) => book.number === number)),
    recordPrices: (prices) => answer(() => void state.recorded.push(prices)),
  };
  const warned: string[] = [];
  const logger = { info: () => {}, warn: (_data: unknown, message?: unknown) => void warned.push(String(message)) };
  const clock = { nowMs: () => 7, monotonicMs: () => 7 };
  const follower = createPriceBookFollower({ store, cached, clock, logger: logger as never, pollMs, storeTimeoutMs: 500 });
  context.after(() => follower.close());
  /** Advances the time, and waits for everything that this starts. */
  const pass = async (ms: number): Promise<void> => {
    context.mock.timers.tick(ms);
    // A wait that has ended gives up after the turn's input and output.
    await new Promise((resolve) => setImmediate(resolve));
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
  };
  return { follower, state, warned, pass };
}

test('a published book is used after one poll, also with lower numbers from another database', async (context) => {
  const { follower, state, pass } = follow(context, createBook(9));
  await follower.start();
  assert.equal(follower.newest(), undefined, 'book 9 belongs to another database');
  state.books.push(createBook(1));
  await pass(pollMs - 1);
  assert.equal(follower.newest(), undefined);
  await pass(1);
  assert.equal(follower.newest()?.number, 1);
  const before = follower.newest();
  await pass(pollMs);
  assert.equal(follower.newest(), before, 'the same object, so that nothing is loaded again');
  state.books = [createBook(1, 'other')];
  const changed = { ...createBook(1), digest: 'other' };
  state.books = [changed];
  await pass(pollMs);
  assert.equal(follower.newest(), before, 'a book with a wrong digest is ignored');
  assert.throws(() => readPublishedBook(changed), /its digest differs/);
});

test('a store that fails or hangs changes nothing, is logged once, and later gets the prices in force', async (context) => {
  const cached = createBook(3);
  const { follower, state, warned, pass } = follow(context, cached);
  state.isAway = true;
  follower.record({ version: 'v', basis: '{}' });
  await follower.start();
  await pass(pollMs);
  assert.equal(follower.newest(), cached);
  assert.deepEqual(warned.length, 1);
  state.isAway = false;
  state.isDeaf = true;
  await pass(pollMs);
  await pass(500);
  assert.equal(warned.length, 1);
  state.isDeaf = false;
  state.books.push(cached);
  await pass(pollMs);
  assert.deepEqual(state.recorded, [{ version: 'v', basis: '{}', recordedAtMs: 7 }]);
  await pass(pollMs);
  assert.equal(state.recorded.length, 1);
});

test('after closing it makes no query, and does not wait for a running one', async (context) => {
  const { follower, state, warned, pass } = follow(context);
  state.isDeaf = true;
  const started = follower.start();
  follower.close();
  await started;
  const { questions } = state;
  await pass(10 * pollMs);
  assert.deepEqual([state.questions, warned], [questions, []]);
});
