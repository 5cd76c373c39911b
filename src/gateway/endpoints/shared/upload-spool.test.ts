import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';

import { GatewayError } from '../../../inference/gateway-error.ts';
import { heldBytesMax, type SpooledUpload, UploadSpool } from './upload-spool.ts';

async function contentOf(upload: SpooledUpload): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of upload.read()) pieces.push(piece);
  return Buffer.concat(pieces);
}

describe('spooled uploads', () => {
  const directory = mkdtempSync(join(tmpdir(), 'weir-spool-'));
  after(() => rmSync(directory, { recursive: true, force: true }));
  const bytes = (length: number): Buffer => Buffer.from(Array.from({ length }, (_, index) => index % 251));

  for (const length of [0, 1, heldBytesMax, heldBytesMax + 1, 3 * heldBytesMax + 7])
    test(`${length} bytes can be read repeatedly and unchanged, and leave no file name`, async () => {
      const spool = new UploadSpool(directory, () => 10_000_000);
      const upload = spool.begin();
      const content = bytes(length);
      for (let at = 0; at < length; at += 70_001) await upload.write(content.subarray(at, at + 70_001));
      for (const _ of [1, 2]) assert.ok((await contentOf(upload)).equals(content));
      assert.ok((await upload.readAt(5, 100)).equals(content.subarray(5, 100)));
      assert.deepEqual(readdirSync(directory), []);
      await upload.discard();
      await upload.discard();
      await assert.rejects(upload.readAt(0, 1));
      await assert.rejects(upload.write(Buffer.alloc(1)));
    });

  test('the disk quota is shared, and a discarded upload releases its share, even during a write', async () => {
    const spool = new UploadSpool(directory, () => 1_000_000);
    const first = spool.begin();
    await first.write(bytes(900_000));
    const second = spool.begin();
    await assert.rejects(second.write(bytes(600_000)), (error: unknown) => error instanceof GatewayError && error.code === 'overloaded');
    await second.discard();
    await first.discard();
    const third = spool.begin();
    const writing = third.write(bytes(700_000)).catch(() => {});
    await third.discard();
    await writing;
    const fourth = spool.begin();
    await fourth.write(bytes(1_000_000));
    await fourth.discard();
  });

  test('an upload that is discarded while its beginning goes to the disk reserves nothing afterwards', async () => {
    const spool = new UploadSpool(directory, () => 600_000);
    for (let client = 1; client <= 3; client += 1) {
      const opened = Promise.withResolvers<void>();
      const upload = new (class extends UploadSpool {
        override async openFile(): Promise<FileHandle> {
          const handle = await super.openFile();
          const write = handle.write.bind(handle);
          // The client disconnects while the bytes are written that were in memory.
          handle.write = (async (...to: Parameters<typeof write>) => {
            opened.resolve();
            return await write(...to);
          }) as typeof write;
          return handle;
        }
        override reserve = (amount: number): void => spool.reserve(amount);
        override release = (amount: number): void => spool.release(amount);
      })(directory, () => 0).begin();
      await upload.write(bytes(heldBytesMax));
      const writing = upload.write(bytes(heldBytesMax)).catch(() => {});
      await Promise.race([opened.promise, writing]);
      await upload.discard();
      await writing;
    }
    const next = spool.begin();
    await next.write(bytes(600_000));
    await next.discard();
  });

  test('only the owner can read the directory, and only leftover uploads are deleted at the start', () => {
    writeFileSync(join(directory, 'upload-1-1'), 'x');
    writeFileSync(join(directory, 'other'), 'x');
    const own = join(directory, 'own');
    assert.ok(new UploadSpool(directory, () => 1) instanceof UploadSpool);
    assert.ok(new UploadSpool(own, () => 1) instanceof UploadSpool);
    assert.deepEqual(readdirSync(directory).toSorted(), ['other', 'own']);
    assert.equal(statSync(own).mode & 0o777, 0o700);
  });
});
