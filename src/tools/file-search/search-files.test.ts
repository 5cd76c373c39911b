import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { Logger } from '../../platform/log.ts';
import type { ChunkStore } from './file-store.ts';
import type { RankTexts } from './rank-texts.ts';
import { createSearchFiles } from './search-files.ts';

const texts = ['first', 'second', 'third'];
const owner = { userName: 'alice', keyId: 'key_1', part: { rowId: 'req_1.rank.1', parentCallId: 'req_1' } };

/** Three passages in the order of their ids, and a ranker that records its calls. */
function createBench(scores: readonly number[] | Error) {
  const rankings: Parameters<RankTexts>[] = [];
  const logged: unknown[] = [];
  const store = {
    searchChunks: () => Promise.resolve({ byText: [0, 1, 2], byVector: [] }),
    readChunks: ({ ids }: { readonly ids: readonly number[] }) =>
      Promise.resolve(ids.map((id) => ({ id, storeId: 's', fileId: 'f', filename: 'f.txt', attributes: {}, text: texts[id] ?? '' }))),
  } as unknown as ChunkStore;
  const rank: RankTexts = (...args) => {
    rankings.push(args);
    return scores instanceof Error ? Promise.reject(scores) : Promise.resolve(scores);
  };
  const logger = { warn: (...line: unknown[]) => logged.push(line) } as unknown as Logger;
  const search = createSearchFiles({ store, embed: () => undefined, rank: () => rank, logger });
  const find = async (more: object = {}) => {
    const query = { ...owner, storeIds: ['s'], queries: ['a', 'b'], resultsMax: 2, signal: AbortSignal.timeout(1000), ...more };
    return (await search(query)).map(({ text, score }) => [text, score] as const);
  };
  return { find, rankings, logged };
}

test('a ranking model orders the results, and thresholds and bounds apply to its scores', async () => {
  const { find, rankings } = createBench([0.1, 0.9, 0.5]);
  assert.deepEqual(await find(), [
    ['second', 0.9],
    ['third', 0.5],
  ]);
  assert.deepEqual(await find({ scoreThreshold: 0.6 }), [['second', 0.9]]);
  const [query, ranked, account] = rankings[0] ?? assert.fail();
  assert.deepEqual([query, ranked, account], ['a\nb', texts, owner]);
});

test('a request without a ranker keeps the order of the search', async () => {
  const { find, rankings } = createBench([0.1, 0.9, 0.5]);
  assert.deepEqual(
    (await find({ ranker: 'none' })).map(([text]) => text),
    ['first', 'second'],
  );
  assert.equal(rankings.length, 0);
});

test('a search continues without a model that fails, and logs the failure', async () => {
  const { find, logged } = createBench(new Error('no credit'));
  assert.deepEqual(
    (await find()).map(([text]) => text),
    ['first', 'second'],
  );
  assert.equal(logged.length, 1);
});
