import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { systemClock } from '../../platform/clock.ts';
import { silentLogger } from '../../platform/log.ts';
import { createIndexer, type IndexerOptions } from './create-indexer.ts';
import type { Extraction } from './extraction/create-extractor.ts';
import type { IndexingTask } from './file-store.ts';

const settings = {
  leaseMs: 15_000,
  pollMs: 60_000,
  postponeMs: 10_000,
  attemptsMax: 3,
  charactersMax: 1000,
  atOnceMax: 4,
  atOncePerUserMax: 2,
};

/** A store whose files wait in the given order, and a reader that the test controls. */
function openWorld(context: TestContext, waiting: readonly (readonly [userName: string, fileId: string])[]) {
  const queue = waiting.map(([userName, fileId]): IndexingTask => ({
    userName,
    fileId,
    storeId: 'vs_1',
    owner: 'indexer',
    chunking: { isAuto: true, tokensMax: 800, overlapTokens: 400 },
  }));
  const started: string[] = [];
  const finished: string[] = [];
  const reading = new Map<string, (extraction: Extraction) => void>();
  const store = {
    claimIndexing: async ({ exceptUsers = [] }: { readonly exceptUsers?: readonly string[] }) => {
      const place = queue.findIndex(({ userName }) => !exceptUsers.includes(userName));
      return place < 0 ? undefined : queue.splice(place, 1)[0];
    },
    findFile: async ({ fileId }: { readonly fileId: string }) => ({ id: fileId, filename: fileId }),
    finishIndexing: async ({ fileId }: { readonly fileId: string }) => finished.push(fileId) > 0,
    addChunks: async () => true,
    renewIndexing: async () => true,
    postponeIndexing: async () => {},
  };
  const indexer = createIndexer({
    store: store as unknown as IndexerOptions['store'],
    library: {} as IndexerOptions['library'],
    extractor: {
      extract: ({ filename }, signal) =>
        new Promise((resolve, reject) => {
          started.push(filename);
          reading.set(filename, resolve);
          signal.addEventListener('abort', () => reject(signal.reason));
        }),
      close: async () => {},
    },
    embed: () => undefined,
    clock: systemClock,
    logger: silentLogger,
    newId: (prefix) => prefix,
    settings,
  });
  context.after(() => indexer.close());
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 5; turn += 1) await nextTurn();
  };
  const read = async (fileId: string): Promise<void> => {
    reading.get(fileId)?.({ chunks: [] });
    await settle();
  };
  return { started, finished, read, settle };
}

const filesOf = (userName: string, count: number) =>
  Array.from({ length: count }, (_, index) => [userName, `${userName}${index}`] as const);

test('F96: a slow file does not delay another one, and a user with many files has only some in progress', async (context) => {
  const { started, finished, read, settle } = openWorld(context, [...filesOf('a', 10), ['b', 'b0']]);
  await settle();
  assert.deepEqual(started, ['a0', 'b0', 'a1']);
  await read('b0');
  assert.deepEqual(finished, ['b0']);
  await read('a1');
  assert.deepEqual(started, ['a0', 'b0', 'a1', 'a2'], 'a0 is still in progress');
});

test('F96: users alternate, whatever the order of their files', async (context) => {
  const { started, read, settle } = openWorld(context, [
    ...filesOf('a', 20),
    ...filesOf('b', 20),
    ...filesOf('c', 20),
    ['d', 'd0'],
    ['e', 'e0'],
  ]);
  await settle();
  assert.deepEqual(started, ['a0', 'b0', 'c0', 'd0']);
  await read('a0');
  assert.equal(started.at(-1), 'e0', 'a user without a file in progress comes before the next file of the others');
});
