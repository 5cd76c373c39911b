import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { StoreError } from '../store-error.ts';
import type { WorkerStore } from '../worker/connect-store-worker.ts';
import { openSqliteStore } from './open-sqlite-store.ts';
import { createSearchThread } from './search-thread.ts';

const query = { userName: 'u', storeIds: ['vs_1'], match: '"a"', candidatesMax: 10 };

test('a search sees earlier writes, and a clean end leaves one file', async (context) => {
  const directory = mkdtempSync(join(tmpdir(), 'weir-search-'));
  context.after(() => rmSync(directory, { recursive: true, force: true }));
  const store = await openSqliteStore({ path: join(directory, 'weir.db') });
  const file = { userName: 'u', fileId: 'file-1' };
  await store.beginUpload({ ...file, startedAtMs: 1 });
  const described = { filename: 'a.txt', purpose: 'assistants', mediaType: 'text/plain', bytes: 0, createdAtMs: 1 };
  await store.finishUpload({ ...described, id: file.fileId, userName: 'u' }, 1000);
  await store.insertVectorStore({ id: 'vs_1', userName: 'u', name: '', metadata: {}, createdAtMs: 1, lastActiveAtMs: 1 });
  const chunking = { isAuto: true, tokensMax: 800, overlapTokens: 400 };
  await store.addStoreFiles({ userName: 'u', storeId: 'vs_1', files: [{ fileId: 'file-1', attributes: {}, chunking }], nowMs: 1 });
  assert.deepEqual(await store.searchChunks(query), { byText: [], byVector: [] });
  const lease = { storeId: 'vs_1', fileId: 'file-1', owner: 'me' };
  await store.claimIndexing({ owner: 'me', nowMs: 2, leaseMs: 1000, attemptsMax: 3 });
  const vector = new Float32Array([1, 0]);
  await store.addChunks({ ...lease, firstIndex: 0, chunks: [{ text: 'a', terms: 'a', vector }] });
  await store.finishIndexing({ ...lease, status: 'completed' });
  const found = await store.searchChunks({ ...query, vector });
  assert.deepEqual([found.byText.length, found.byVector.length], [1, 1]);
  await store.deleteFile(file);
  assert.deepEqual(await store.searchChunks({ ...query, vector }), { byText: [], byVector: [] });
  await store.close();
  assert.deepEqual(readdirSync(directory), ['weir.db']);
  await assert.rejects(store.searchChunks(query), { kind: 'unavailable' });
});

test('the next search starts a thread again that failed to start or has died', async () => {
  let opened = 0;
  let failure: string | undefined;
  const found = { byText: [7], byVector: [] };
  const thread = createSearchThread(() => {
    opened += 1;
    if (opened === 1) return Promise.reject(new StoreError('disk', 'no'));
    failure = undefined;
    const store = { searchChunks: () => Promise.resolve(found), failureReason: () => failure, close: () => Promise.resolve() };
    return Promise.resolve(store as unknown as WorkerStore);
  });
  await assert.rejects(thread.searchChunks(query), { kind: 'disk' });
  assert.deepEqual(await Promise.all([thread.searchChunks(query), thread.searchChunks(query)]), [found, found]);
  assert.equal(opened, 2);
  failure = 'it died';
  assert.deepEqual(await Promise.all([thread.searchChunks(query), thread.searchChunks(query)]), [found, found]);
  assert.equal(opened, 3);
  await thread.close();
  await assert.rejects(thread.searchChunks(query), { kind: 'unavailable' });
});
