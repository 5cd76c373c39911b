import assert from 'node:assert/strict';
import { test } from 'node:test';

import { autoChunking, type StoredFile } from '../../src/tools/file-search/file-objects.ts';
import type { Store } from '../../src/store/store.ts';
import { type StoreUnderTest, useEngine } from './store-under-test.ts';

const nowMs = 1_000_000;
const claim = { nowMs, leaseMs: 1000, attemptsMax: 3 };
const roomy = 1e12;

/** The behaviour of every engine for files, vector stores and the index of their text. */
export function fileSearchSuite(open: () => Promise<StoreUnderTest>): void {
  const engine = useEngine(open);

  const addFile = async (fileId: string, userName: string, more: Partial<StoredFile> = {}): Promise<StoredFile> => {
    const store = engine().store();
    const file: StoredFile = {
      id: fileId,
      userName,
      filename: `${fileId}.txt`,
      purpose: 'assistants',
      mediaType: 'text/plain',
      bytes: 3,
      createdAtMs: nowMs,
      ...more,
    };
    await store.beginUpload({ userName, fileId, startedAtMs: nowMs });
    assert.equal(await store.appendPiece({ fileId, index: 0, sealed: Buffer.from('abc') }), true);
    assert.equal(await store.finishUpload(file, roomy), true);
    return file;
  };
  const addStore = async (id: string, userName: string): Promise<void> =>
    engine().store().insertVectorStore({ id, userName, name: '', metadata: {}, createdAtMs: nowMs, lastActiveAtMs: nowMs });
  const add = (storeId: string, userName: string, ...ids: readonly string[]) =>
    engine()
      .store()
      .addStoreFiles({
        storeId,
        userName,
        files: ids.map((fileId) => ({ fileId, attributes: { name: fileId }, chunking: autoChunking })),
        nowMs,
      });
  /** Indexes the next waiting file, with its text and vector. Files of the same moment wait in no order. */
  const index = async (contents: Readonly<Record<string, readonly [text: string, vector: Float32Array]>>): Promise<void> => {
    const store = engine().store();
    const task = await store.claimIndexing({ ...claim, owner: 'me' });
    assert.ok(task !== undefined);
    const [text, vector] = contents[task.fileId] ?? assert.fail(task.fileId);
    const chunk = { text, terms: text, vector };
    assert.equal(await store.addChunks({ ...task, firstIndex: 0, chunks: [chunk] }), true);
    assert.equal(await store.finishIndexing({ ...task, status: 'completed' }), true);
  };

  test('a file is visible to its owner once it is complete, and its pieces are read as they were written', async () => {
    const store = engine().store();
    await store.beginUpload({ userName: 'ann', fileId: 'file-1', startedAtMs: nowMs });
    assert.equal(await store.findFile({ userName: 'ann', fileId: 'file-1', nowMs }), undefined);
    await store.discardUpload('file-1');
    assert.equal(await store.appendPiece({ fileId: 'file-1', index: 0, sealed: Buffer.from('x') }), false);
    const file = await addFile('file-1', 'ann', { expiresAtMs: nowMs + 10 });
    assert.deepEqual(await store.findFile({ userName: 'ann', fileId: 'file-1', nowMs }), file);
    assert.equal(await store.findFile({ userName: 'bob', fileId: 'file-1', nowMs }), undefined);
    assert.equal(await store.findFile({ userName: 'ann', fileId: 'file-1', nowMs: nowMs + 10 }), undefined, 'expired');
    assert.deepEqual(Buffer.from((await store.readPiece({ fileId: 'file-1', index: 0 })) ?? []), Buffer.from('abc'));
    await store.discardUpload('file-1');
    assert.deepEqual(await store.findFile({ userName: 'ann', fileId: 'file-1', nowMs }), file, 'a finished upload is no longer an upload');
    assert.equal(await store.deleteFile({ userName: 'bob', fileId: 'file-1' }), false);
    assert.equal(await store.sweepFiles({ nowMs: nowMs + 10, uploadsBeforeMs: 0, rowsMax: 10 }), 1);
    assert.equal(await store.sweepFiles({ nowMs: nowMs + 10, uploadsBeforeMs: 0, rowsMax: 10 }), 0);
    assert.equal(await store.readPiece({ fileId: 'file-1', index: 0 }), undefined);
  });

  test('an unfinished upload is swept, and no user gets more space than there is', async () => {
    const store = engine().store();
    await store.beginUpload({ userName: 'ann', fileId: 'left', startedAtMs: nowMs });
    assert.equal(await store.sweepFiles({ nowMs, uploadsBeforeMs: nowMs, rowsMax: 10 }), 0);
    assert.equal(await store.sweepFiles({ nowMs, uploadsBeforeMs: nowMs + 1, rowsMax: 10 }), 1);
    const file = await addFile('file-a', 'ann');
    await store.beginUpload({ userName: 'ann', fileId: 'file-b', startedAtMs: nowMs });
    assert.equal(await store.finishUpload({ ...file, id: 'file-b' }, 5), 'no-room');
    assert.equal(await store.finishUpload({ ...file, id: 'file-b' }, 6), true);
    for (const fileId of ['file-a', 'file-b']) assert.equal(await store.deleteFile({ userName: 'ann', fileId }), true);
  });

  test('uploads of one user that end simultaneously, in several processes, are all stored, within the quota', async () => {
    const others = await Promise.all(Array.from({ length: 3 }, () => engine().openAnother()));
    const stores = [engine().store(), ...others];
    const upload = async (store: Store, fileId: string): Promise<unknown> => {
      await store.beginUpload({ userName: 'many', fileId, startedAtMs: nowMs });
      assert.equal(await store.appendPiece({ fileId, index: 0, sealed: Buffer.from('abc') }), true);
      const file = {
        id: fileId,
        userName: 'many',
        filename: 'x',
        purpose: 'assistants',
        mediaType: 'text/plain',
        bytes: 3,
        createdAtMs: nowMs,
      };
      return await store.finishUpload(file, 300);
    };
    const ends = await Promise.all(
      stores.flatMap((store, at) => Array.from({ length: 30 }, (_, index) => upload(store, `m-${at}-${index}`))),
    );
    assert.deepEqual([ends.filter((end) => end === true).length, ends.filter((end) => end === 'no-room').length], [100, 20]);
  });

  test('lists are ordered by time and id, in both orders, from both sides', async () => {
    const store = engine().store();
    const ids = ['p1', 'p2', 'p3', 'p4', 'p5'];
    for (const [at, id] of ids.entries()) await addFile(id, 'pager', { createdAtMs: nowMs + Math.floor(at / 2) });
    const list = async (page: object): Promise<readonly string[]> =>
      (await store.listFiles({ userName: 'pager', limit: 10, order: 'asc', nowMs, ...page })).map(({ id }) => id);
    assert.deepEqual(await list({}), ids);
    assert.deepEqual(await list({ order: 'desc' }), ids.toReversed());
    assert.deepEqual(await list({ after: 'p2', limit: 2 }), ['p3', 'p4']);
    assert.deepEqual(await list({ after: 'p4', limit: 2, order: 'desc' }), ['p3', 'p2']);
    assert.deepEqual(await list({ before: 'p4', limit: 2 }), ['p2', 'p3']);
    assert.deepEqual(await list({ after: 'nobody' }), []);
    assert.deepEqual(await list({ purpose: 'batch' }), []);
    for (const id of ids) await store.deleteFile({ userName: 'pager', fileId: id });
  });

  test('files of a store are leased, indexed once, found by their owner only, and deleted with their owner', async () => {
    const store = engine().store();
    await addFile('file-x', 'ann');
    await addFile('file-y', 'ann');
    await addFile('file-z', 'bob');
    await addStore('vs_1', 'ann');
    await addStore('vs_2', 'bob');
    assert.deepEqual(await add('vs_1', 'ann', 'file-x', 'file-z'), ['file-z'], 'all or none');
    assert.equal(await add('vs_1', 'bob', 'file-z'), 'no-store');
    assert.deepEqual(await add('vs_1', 'ann', 'file-x', 'file-y'), []);
    assert.deepEqual(await add('vs_2', 'bob', 'file-z'), []);
    const contents = {
      'file-x': ['the quick brown fox', Float32Array.of(1, 0)],
      'file-y': ['a slow blue whale', Float32Array.of(0, 1)],
      'file-z': ['a fox of bob', Float32Array.of(1, 0)],
    } as const;
    for (const _ of Object.keys(contents)) await index(contents);
    assert.equal(await store.claimIndexing({ ...claim, owner: 'me' }), undefined);
    const search = async (query: object): Promise<readonly string[]> => {
      const { byText, byVector } = await store.searchChunks({ userName: 'ann', storeIds: ['vs_1', 'vs_2'], candidatesMax: 10, ...query });
      return (await store.readChunks({ userName: 'ann', ids: [...byText, ...byVector] })).map(({ text }) => text);
    };
    assert.deepEqual(await search({ match: '"foxes"' }), ['the quick brown fox'], "not bob's, also if his store is named");
    assert.deepEqual(await search({ match: '"vs1"' }), [], "the store's marker word is not part of the text");
    assert.deepEqual(await search({ vector: Float32Array.of(0.1, 0.995) }), ['a slow blue whale', 'the quick brown fox']);
    assert.deepEqual(await search({ vector: Float32Array.of(1, 1, 1) }), [], 'vectors of another model');
    const filter = { kind: 'compare', key: 'name', operator: 'eq', value: 'file-y' };
    assert.deepEqual(await search({ match: '"a" OR "the"', filter }), ['a slow blue whale']);
    const counted = await store.findVectorStore({ userName: 'ann', storeId: 'vs_1' });
    assert.equal(counted?.counts.completed, 2);
    assert.equal(await store.deleteFile({ userName: 'ann', fileId: 'file-x' }), true);
    assert.deepEqual(await search({ match: '"fox"' }), []);
    assert.equal(await store.deleteVectorStore({ userName: 'bob', storeId: 'vs_1' }), false);
    assert.equal(await store.deleteVectorStore({ userName: 'ann', storeId: 'vs_1' }), true);
    assert.deepEqual(await search({ match: '"whale"' }), []);
    assert.equal(await store.deleteVectorStore({ userName: 'bob', storeId: 'vs_2' }), true);
    assert.equal(await store.sweepFiles({ nowMs, uploadsBeforeMs: 0, rowsMax: 10 }), 3, 'three chunks leave the index');
    assert.equal(await store.sweepFiles({ nowMs, uploadsBeforeMs: 0, rowsMax: 10 }), 0);
  });

  test("an expired lease passes on, its previous owner's results are void, and a file that is begun too often fails", async () => {
    const store = engine().store();
    await addFile('file-l', 'cid');
    await addStore('vs_l', 'cid');
    await add('vs_l', 'cid', 'file-l');
    const first = await store.claimIndexing({ ...claim, owner: 'first' });
    assert.ok(first !== undefined);
    const chunks = [{ text: 'half', terms: 'half' }];
    assert.equal(await store.addChunks({ ...first, firstIndex: 0, chunks }), true);
    assert.equal(await store.claimIndexing({ ...claim, owner: 'second' }), undefined, 'it is leased');
    await addFile('file-d', 'dan');
    await addStore('vs_d', 'dan');
    await add('vs_d', 'dan', 'file-d');
    assert.equal(
      await store.claimIndexing({ ...claim, owner: 'second', exceptUsers: ['eve', 'dan'] }),
      undefined,
      'it is not their turn yet',
    );
    assert.equal((await store.claimIndexing({ ...claim, owner: 'second', exceptUsers: ['eve', 'cid'] }))?.fileId, 'file-d');
    assert.equal(await store.deleteVectorStore({ userName: 'dan', storeId: 'vs_d' }), true);
    assert.equal(await store.renewIndexing({ ...first, leaseUntilMs: nowMs + 5000 }), true);
    const second = await store.claimIndexing({ ...claim, nowMs: nowMs + 5000, owner: 'second' });
    assert.ok(second !== undefined);
    assert.equal(await store.addChunks({ ...first, firstIndex: 1, chunks }), false);
    assert.equal(await store.finishIndexing({ ...first, status: 'completed' }), false);
    assert.deepEqual(await store.readText({ userName: 'cid', storeId: 'vs_l', fileId: 'file-l', fromIndex: 0, limit: 9 }), []);
    await store.postponeIndexing({ ...second, untilMs: nowMs + 9000 });
    for (const at of [10_000, 20_000])
      assert.ok((await store.claimIndexing({ ...claim, nowMs: nowMs + at, owner: 'third' })) !== undefined);
    assert.equal(await store.claimIndexing({ ...claim, nowMs: nowMs + 30_000, owner: 'fourth' }), undefined);
    const failed = await store.findStoreFile({ userName: 'cid', storeId: 'vs_l', fileId: 'file-l' });
    assert.equal(failed?.status, 'failed');
    assert.equal(failed.error?.code, 'server_error');
    assert.equal(await store.deleteVectorStore({ userName: 'cid', storeId: 'vs_l' }), true);
  });
}
