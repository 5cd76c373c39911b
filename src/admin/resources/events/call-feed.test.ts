import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { CallSummary } from '../../../billing/calls/call-facts-store.ts';
import { CallFeed, feedOf } from './call-feed.ts';

const call = (number: number): CallSummary => ({
  callId: `req_${number}`,
  atMs: number,
  number,
  userName: 'ann',
  keyId: 'key_1',
  keyName: 'app',
  model: 'gpt-5',
  interface: 'openai-chat',
  end: 'finished',
  flags: [],
  promptTokens: 1,
  completionTokens: 1,
  durationMs: 5,
  amountNanoUsd: 0n,
});

/** A store whose list grows at its beginning, and that counts questions. */
function growingStore() {
  const calls: CallSummary[] = [];
  let questions = 0;
  return {
    add: (...numbers: readonly number[]) => void calls.unshift(...numbers.map(call)),
    questions: () => questions,
    scanCalls: async ({ limit }: { readonly limit: number }) => {
      questions += 1;
      const next = calls[limit];
      return { calls: calls.slice(0, limit), searchedToMs: 0, ...(next !== undefined && { next }) };
    },
  };
}

const asked = { filter: {}, scope: 'all' } as const;
const numbersOf = (news: ReturnType<CallFeed['after']>): readonly number[] | undefined => news?.calls.map(({ number }) => number);

test('streams with the same filter ask once, and get the same object; one that begins later gets only what is new', async () => {
  const store = growingStore();
  store.add(1);
  const feed = feedOf(store, 'all', asked);
  assert.equal(feedOf(store, 'all', asked), feed);
  assert.notEqual(feedOf(store, 'other', asked), feed);
  await Promise.all(Array.from({ length: 10 }, () => feed.advance(0, 0)));
  await feed.advance(0, 60_000);
  assert.equal(store.questions(), 1);
  const first = feed.number;
  assert.equal(feed.after(first), undefined, 'calls from before are not new');
  store.add(2);
  await feed.advance(0, 0);
  const second = feed.number;
  store.add(4, 3);
  await feed.advance(0, 0);
  assert.deepEqual(numbersOf(feed.after(second)), [4, 3]);
  assert.equal(feed.after(second), feed.after(second));
  assert.deepEqual(numbersOf(feed.after(first)), [4, 3, 2], 'a stream that missed a reading gets both');
  assert.equal(feed.after(feed.number), undefined);
});

test('a stream that is too far behind, and one reading with too many calls, say that there is more', async () => {
  const store = growingStore();
  const feed = new CallFeed(store, asked);
  await feed.advance(0, 0);
  const begun = feed.number;
  for (let number = 1; number <= 9; number += 1) {
    store.add(number);
    await feed.advance(0, 0);
  }
  const late = feed.after(begun);
  assert.deepEqual([numbersOf(late), late?.hasMore], [[9, 8, 7, 6, 5, 4, 3, 2], true]);
  assert.equal(feed.after(begun + 1)?.hasMore, false);
  const before = feed.number;
  store.add(...Array.from({ length: 201 }, (_, index) => 1000 + index));
  await feed.advance(0, 0);
  const many = feed.after(before);
  assert.deepEqual([many?.calls.length, many?.hasMore], [200, true]);
});

test('a reading that fails is not kept', async () => {
  const store = growingStore();
  let isAway = true;
  const feed = new CallFeed({ scanCalls: (scan) => (isAway ? Promise.reject(new Error('away')) : store.scanCalls(scan)) }, asked);
  await assert.rejects(feed.advance(0, 60_000), /away/);
  isAway = false;
  await feed.advance(0, 60_000);
  assert.equal(store.questions(), 1);
});
