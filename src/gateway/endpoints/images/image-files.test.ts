import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { GeneratedImage } from '../../../inference/image.ts';
import { MediaStorageError } from '../../../tasks/media/media-storage.ts';
import type { StoredImage } from '../../../tasks/media/image-store.ts';
import { createSignedLinks } from '../shared/content/signed-links.ts';
import { createImageLinks } from './image-files.ts';

const hourMs = 3_600_000;
const nowMs = Date.UTC(2026, 10, 23);
const links = createSignedLinks(Buffer.alloc(32, 7), Number.POSITIVE_INFINITY);
const made = (text: string): GeneratedImage => ({
  content: { kind: 'inline', mediaType: 'image/png', data: Buffer.from(text).toString('base64') },
});
const elsewhere: GeneratedImage = { content: { kind: 'url', url: 'https://vendor.example/a.png' } };

/** A storage that fails after a number of files, and a record of its operations. */
function start({ filesMax = 10, mediaRetentionDays = undefined as number | undefined } = {}) {
  const files = new Map<string, string>();
  const rows: StoredImage[] = [];
  const errors: unknown[] = [];
  let ids = 0;
  let begun = 0;
  const link = createImageLinks({
    files: {
      storage: {
        write: async (key, source) => {
          begun += 1;
          if (begun > filesMax) throw new MediaStorageError('unavailable', 'full');
          const bytes = Buffer.concat(await Array.fromAsync(source));
          files.set(key, bytes.toString());
          return { bytes: bytes.length, sha256: 'hash' };
        },
        open: () => assert.fail('nothing is read'),
        remove: (key) => {
          files.delete(key);
          return Promise.resolve();
        },
      },
      store: {
        addPictures: (pictures) => {
          rows.push(...pictures);
          return Promise.resolve();
        },
        findPicture: () => assert.fail('nothing is looked for'),
        mediaBytes: () => Promise.resolve(0),
      },
      links,
    },
    clock: { nowMs: () => nowMs, monotonicMs: () => 0 },
    logger: { debug: () => {}, info: () => {}, warn: () => {}, error: (said: unknown) => void errors.push(said) },
    newId: (prefix) => `${prefix}_${++ids}`,
    callId: 'req_1',
    caller: { id: 'key_1', userName: 'ann', ...(mediaRetentionDays !== undefined && { limits: { mediaRetentionDays } }) },
    baseUrl: 'https://weir.example',
    linkHours: 48,
    bytesMax: 1000,
  });
  return { link, files, rows, errors };
}

const urlOf = (image: GeneratedImage | undefined): URL => {
  assert.equal(image?.content.kind, 'url');
  return new URL(image.content.kind === 'url' ? image.content.url : '');
};

test('bytes get a link that works until their file is deleted; URLs stay', async () => {
  const { link, files, rows } = start();
  const { images, keep } = link([made('one'), elsewhere, made('two')]);
  assert.equal(images[1], elsewhere);
  const url = urlOf(images[2]);
  assert.deepEqual([url.origin, url.pathname], ['https://weir.example', '/v1/images/picture_2/content']);
  assert.equal(files.size, 0, 'nothing is kept before the reply is whole');
  assert.equal(await keep(), true);
  assert.deepEqual(
    [...files],
    [
      ['picture_1', 'one'],
      ['picture_2', 'two'],
    ],
  );
  assert.deepEqual(rows[1]?.media, { key: 'picture_2', mediaType: 'image/png', bytes: 3, sha256: 'hash' });
  const [, row] = rows;
  assert.deepEqual([row?.userName, row?.keyId, row?.expiresAtMs], ['ann', 'key_1', nowMs + 48 * hourMs]);
  assert.equal(url.searchParams.get('expires'), String((nowMs + 48 * hourMs) / 1000));
  const signed = links.read('picture_2', url.searchParams, nowMs);
  assert.ok(signed !== undefined && links.isSigned(signed, 'ann') && !links.isSigned(signed, 'bob'));
  assert.equal(links.read('picture_2', url.searchParams, nowMs + 48 * hourMs), undefined);
});

test('a key with a shorter retention has shorter links', async () => {
  const { link, rows } = start({ mediaRetentionDays: 1 });
  await link([made('one')]).keep();
  assert.equal(rows[0]?.expiresAtMs, nowMs + 24 * hourMs);
});

test('if one file cannot be stored, none is, and the caller learns it', async () => {
  const { link, files, rows, errors } = start({ filesMax: 1 });
  assert.equal(await link([made('one'), made('two')]).keep(), false);
  assert.deepEqual([files.size, rows.length, errors.length], [0, 0, 1]);
});

test('nothing is stored for images that have URLs', async () => {
  const { link, rows } = start({ filesMax: 0 });
  assert.equal(await link([elsewhere]).keep(), true);
  assert.equal(rows.length, 0);
});
