import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

import { type SpooledUpload, UploadSpool } from '../shared/upload-spool.ts';
import { HeldUploads } from './held-uploads.ts';

const directory = mkdtempSync(join(tmpdir(), 'weir-held-'));
after(() => rmSync(directory, { recursive: true, force: true }));
const spool = new UploadSpool(directory, () => 1_000_000);

async function hold(bytes: number): Promise<{ readonly upload: SpooledUpload; readonly held: HeldUploads }> {
  const upload = spool.begin();
  await upload.write(Buffer.alloc(bytes, 1));
  return { upload, held: new HeldUploads([{ name: 'image', place: 0, filename: 'a.png', declaredType: 'image/png', upload }]) };
}

test('a file is available to each attempt, and is deleted with its call', async () => {
  const { upload, held } = await hold(300_000);
  const body = held.bodyOf(upload);
  for (const _attempt of [1, 2]) assert.equal(Buffer.concat(await Array.fromAsync(body.read())).length, 300_000);
  held.end();
  held.end();
  assert.equal(upload.isDiscarded, true);
});

test('a call that ends while an attempt is sent leaves the file until the attempt ends', async () => {
  const { upload, held } = await hold(300_000);
  const pieces: Buffer[] = [];
  for await (const piece of held.bodyOf(upload).read()) {
    held.end();
    pieces.push(piece);
  }
  assert.equal(Buffer.concat(pieces).length, 300_000);
  assert.equal(upload.isDiscarded, true);
});

test('an interrupted attempt releases the file', async () => {
  const { upload, held } = await hold(300_000);
  for await (const _piece of held.bodyOf(upload).read()) {
    held.end();
    break;
  }
  assert.equal(upload.isDiscarded, true);
});
