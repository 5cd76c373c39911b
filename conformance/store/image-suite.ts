import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { StoredImage } from '../../src/tasks/media/image-store.ts';
import { hostileNames } from './hostile-names.ts';
import { type StoreUnderTest, useEngine } from './store-under-test.ts';

/** The behaviour of every engine for images with links. */
export function imageSuite(open: () => Promise<StoreUnderTest>): void {
  const engine = useEngine(open);

  const createPicture = (id: string, more: Partial<StoredImage> = {}): StoredImage => ({
    id,
    userName: 'ann',
    keyId: 'key_1',
    media: { key: id, mediaType: 'image/png', bytes: 10, sha256: 'a'.repeat(64) },
    createdAtMs: 1000,
    expiresAtMs: 5000,
    ...more,
  });

  test('a batch of images is stored completely or not at all, and is found unchanged, also after a restart', async () => {
    const [first, second] = [createPicture('picture_a'), createPicture('picture_b', { userName: 'bob' })];
    await engine().store().addPictures([first, second]);
    await engine().reopen();
    assert.deepEqual(await engine().store().findPicture('picture_a'), first);
    assert.deepEqual(await engine().store().findPicture('picture_b'), second);
    assert.equal(await engine().store().findPicture('picture_x'), undefined);
    await assert.rejects(
      engine()
        .store()
        .addPictures([createPicture('picture_c'), first]),
    );
    assert.equal(await engine().store().findPicture('picture_c'), undefined);
  });

  test('their bytes count for their user and for their key', async () => {
    const of = (userName: string, keyId?: string): Promise<number> =>
      engine()
        .store()
        .mediaBytes({ userName, ...(keyId !== undefined && { keyId }) });
    const userName = 'counted';
    await engine()
      .store()
      .addPictures([createPicture('picture_d', { userName }), createPicture('picture_e', { userName, keyId: 'key_2' })]);
    assert.deepEqual([await of(userName), await of(userName, 'key_2'), await of('nobody')], [20, 10, 0]);
  });

  test('what requests of a user left behind is erased: images, callbacks, kept replies; those of others and open ones stay', async () => {
    const store = engine().store();
    const at = { actor: 'cli:test', via: 'cli', atMs: 1000 } as const;
    const bytes = (text: string) => new Uint8Array(Buffer.from(text));
    for (const userName of ['left', 'other']) {
      const { id: userId } = await store.ensureUser({ id: `user-${userName}`, name: userName, createdAtMs: 1 }, at);
      const keyId = `key_of_${userName}`;
      const key = { id: keyId, userId, userName, name: 'a', hash: `hash ${userName}`, hint: 'h', createdAtMs: 2, strictTranslation: false };
      await store.insertApiKey(key, at);
      await store.addPictures([createPicture(`picture_of_${userName}`, { userName })]);
      const message = { subject: 's', eventType: 'video.completed', sealedUrl: bytes('u'), payload: '{}', createdAtMs: 1000 };
      await store.insertDeliveries([{ id: `delivery_of_${userName}`, userName, ...message }]);
      for (const key of ['kept', 'open']) {
        const requestId = `req_${key}_${userName}`;
        const claim = { keyId, key, bodyHash: 'b', requestId, owner: 'p', createdAtMs: 1000, expiresAtMs: 9000, leaseUntilMs: 2000 };
        await store.claimIdempotencyKey(claim);
        if (key === 'kept')
          await store.closeIdempotencyKey({
            ...claim,
            kept: { head: bytes('h'), chunks: 1 },
            last: [{ sequence: 0, sealed: bytes('reply') }],
          });
      }
    }
    assert.deepEqual(await store.eraseRemains('left'), { callbacks: 1, keptReplies: 1, images: 1 });
    assert.deepEqual(await store.eraseRemains('left'), { callbacks: 0, keptReplies: 0, images: 0 });
    assert.equal((await store.findPicture('picture_of_left'))?.expiresAtMs, 0);
    assert.equal((await store.findPicture('picture_of_other'))?.expiresAtMs, 5000);
    assert.deepEqual(await store.listDeliveries({ userName: 'left', limit: 10 }), []);
    assert.equal((await store.listDeliveries({ userName: 'other', limit: 10 })).length, 1);
    assert.deepEqual(
      (await store.measureReplies()).map(({ keyId }) => keyId),
      ['key_of_other'],
    );
    assert.deepEqual(await store.eraseRemains('other'), { callbacks: 1, keptReplies: 1, images: 1 });
  });

  test('expired images are forgotten, the oldest first, and their files have no owner then', async () => {
    const store = engine().store();
    await store.expireMedia({ nowMs: 1_000_000, limit: 100 });
    await store.addPictures([7, 6, 5].map((at) => createPicture(`picture_${at}`, { expiresAtMs: at })));
    assert.deepEqual(await store.unknownMedia(['picture_5', 'picture_x']), ['picture_x']);
    assert.deepEqual(await store.expireMedia({ nowMs: 4, limit: 10 }), []);
    assert.deepEqual(await store.expireMedia({ nowMs: 10, limit: 2 }), ['picture_5', 'picture_6']);
    assert.deepEqual(await store.unknownMedia(['picture_5', 'picture_7']), ['picture_5']);
    assert.deepEqual(await store.expireMedia({ nowMs: 10, limit: 2 }), ['picture_7']);
    assert.equal(await store.findPicture('picture_7'), undefined);
  });

  test('names of any kind do no harm', async () => {
    for (const [index, userName] of hostileNames.entries()) {
      const picture = createPicture(`picture_h${index}`, { userName });
      await engine().store().addPictures([picture]);
      assert.equal(await engine().store().mediaBytes({ userName }), 10);
    }
  });
}
