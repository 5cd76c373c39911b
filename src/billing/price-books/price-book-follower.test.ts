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

/** A follower on clockwork timers, over a store that has `books` and can be away. */
function follow(context: TestContext, kept?: PublishedPriceBook) {
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
  const follower = createPriceBookFollower({ store, kept, clock, logger: logger as never, pollMs, storeTimeoutMs: 500 });
  context.after(() => follower.close());
  /** Lets a time go by, and what it wakes come to an end. */
  const pass = async (ms: number): Promise<void> => {
    context.mock.timers.tick(ms);
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
  };
  return { follower, state, warned, pass };
}

test('what is published is taken within a poll, and a store of another database is believed', async (context) => {
  const { follower, state, pass } = follow(context, createBook(9));
  await follower.start();
  assert.equal(follower.newest(), undefined, 'book 9 was that of another database');
  state.books.push(createBook(1));
  await pass(pollMs - 1);
  assert.equal(follower.newest(), undefined);
  await pass(1);
  assert.equal(follower.newest()?.number, 1);
  const before = follower.newest();
  await pass(pollMs);
  assert.equal(follower.newest(), before, 'the same object, so that nothing is loaded anew');
  state.books = [createBook(1, 'other')];
  const changed = { ...createBook(1), digest: 'other' };
  state.books = [changed];
  await pass(pollMs);
  assert.equal(follower.newest(), before, 'a book that is not what was published is left alone');
  assert.throws(() => readPublishedBook(changed), /its digest differs/);
});

test('a store that is away or deaf changes nothing, is told of once, and hears later what was in force', async (context) => {
  const kept = createBook(3);
  const { follower, state, warned, pass } = follow(context, kept);
  state.isAway = true;
  follower.record({ version: 'v', basis: '{}' });
  await follower.start();
  await pass(pollMs);
  assert.equal(follower.newest(), kept);
  assert.deepEqual(warned.length, 1);
  state.isAway = false;
  state.isDeaf = true;
  await pass(pollMs);
  await pass(500);
  assert.equal(warned.length, 1);
  state.isDeaf = false;
  state.books.push(kept);
  await pass(pollMs);
  assert.deepEqual(state.recorded, [{ version: 'v', basis: '{}', recordedAtMs: 7 }]);
  await pass(pollMs);
  assert.equal(state.recorded.length, 1);
});

test('once closed it asks nothing any more, and nobody waits for an answer that is under way', async (context) => {
  const { follower, state, warned, pass } = follow(context);
  state.isDeaf = true;
  const started = follower.start();
  follower.close();
  await started;
  const { questions } = state;
  await pass(10 * pollMs);
  assert.deepEqual([state.questions, warned], [questions, []]);
});
