import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc32, deflateRawSync, inflateRawSync } from 'node:zlib';

import { createArchiveStream } from './archive-stream.ts';
import { encodeDescriptor, encodeDirectory } from './zip-records.ts';

const modifiedAtMs = Date.UTC(2026, 0, 29, 12, 34, 56);

async function collect(archive: AsyncIterable<Buffer>): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of archive) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** Texts that repeat an earlier block, need more bytes than characters, and are cut anywhere. */
function longText(): string {
  const plain = Array.from({ length: 30_000 }, (_, row) => `<row r="${row}"><v>${row * 7919}</v></row>`).join('');
  return `${plain}${'和é😀'.repeat(150_000)}${plain}`;
}

test('a text of many blocks is restored, however its pieces are cut, and repeats across blocks are compressed', async () => {
  const text = longText();
  for (const size of [1000, 100_003, text.length]) {
    const pieces: string[] = [];
    for (let at = 0; at < text.length;) {
      const end = at + size;
      // A surrogate pair is not cut: no encoder writes halves of a pair.
      const splitsPair = (text.charCodeAt(end - 1) & 0xfc00) === 0xd800;
      pieces.push(text.slice(at, splitsPair ? end + 1 : end));
      at = splitsPair ? end + 1 : end;
    }
    const archive = await collect(createArchiveStream([{ name: 'a.xml', content: pieces }], modifiedAtMs));
    const directory = archive.readUInt32LE(archive.length - 6);
    const [checksum, compressedBytes, contentBytes] = [16, 20, 24].map((at) => archive.readUInt32LE(directory + at));
    const content = inflateRawSync(archive.subarray(35, 35 + (compressedBytes ?? 0)));
    assert.equal(content.toString(), text);
    assert.equal(content.length, contentBytes);
    assert.equal(crc32(content), checksum);
    const atOnce = deflateRawSync(content, { level: 3 }).length;
    assert.ok((compressedBytes ?? 0) < atOnce * 1.02, `${compressedBytes} bytes, and ${atOnce} in one go`);
  }
});

test('the content is closed when the reader of an archive stops', async () => {
  let isOver = false;
  function* endless(): Generator<string> {
    try {
      for (;;) yield 'x'.repeat(100_000);
    } finally {
      isOver = true;
    }
  }
  const archive = createArchiveStream([{ name: 'a', content: endless() }], modifiedAtMs);
  for (let count = 0; count < 5; count += 1) await archive.next();
  assert.ok(!isOver);
  await archive.return(undefined);
  assert.ok(isOver);
});

test('sizes above 4 GiB are in the ZIP64 fields, and smaller files in the archive need only ZIP 2.0', () => {
  const large = { name: 'l', modifiedAtMs, checksum: 7, compressedBytes: 100, contentBytes: 5_000_000_000, offset: 200 };
  const small = { name: 's', modifiedAtMs, checksum: 8, compressedBytes: 100, contentBytes: 300, offset: 0 };
  const descriptor = encodeDescriptor(large);
  assert.deepEqual([descriptor.length, descriptor.readBigUInt64LE(8), descriptor.readBigUInt64LE(16)], [24, 100n, 5_000_000_000n]);
  assert.equal(encodeDescriptor(small).length, 16);

  const directory = encodeDirectory([small, large], 4_294_967_300);
  const first = 46 + 1 + 9;
  assert.equal(directory.readUInt16LE(6), 20);
  assert.equal(directory.readUInt32LE(24), 300);
  assert.equal(directory.readUInt16LE(first + 6), 45);
  assert.equal(directory.readUInt32LE(first + 24), 0xffffffff);
  const extra = first + 46 + 1 + 9;
  const wide = [4, 12, 20].map((at) => directory.readBigUInt64LE(extra + at));
  assert.deepEqual([directory.readUInt16LE(extra), ...wide], [1, 5_000_000_000n, 100n, 200n]);
  const end = extra + 28;
  assert.equal(directory.readUInt32LE(end), 0x06064b50);
  assert.deepEqual([directory.readBigUInt64LE(end + 40), directory.readBigUInt64LE(end + 48)], [BigInt(end), 4_294_967_300n]);
  assert.equal(directory.readUInt32LE(end + 56), 0x07064b50);
  assert.equal(directory.readBigUInt64LE(end + 64), 4_294_967_300n + BigInt(end));
  assert.equal(directory.readUInt32LE(end + 76), 0x06054b50);
  assert.equal(directory.readUInt32LE(end + 76 + 16), 0xffffffff);
});
