import assert from 'node:assert/strict';
import { crc32, inflateRawSync } from 'node:zlib';

/**
 * Reads the archive by its directory. Checks every length and checksum, and that no part of it needs more than ZIP 2.0.
 */
export function unzip(archive: Buffer): Map<string, string> {
  const end = archive.length - 22;
  assert.equal(archive.readUInt32LE(end), 0x06054b50);
  assert.notEqual(archive.readUInt32LE(end - 20), 0x07064b50, 'the archive has a ZIP64 directory');
  const files = new Map<string, string>();
  let at = archive.readUInt32LE(end + 16);
  for (let index = 0; index < archive.readUInt16LE(end + 10); index += 1) {
    assert.equal(archive.readUInt32LE(at), 0x02014b50);
    assert.equal(archive.readUInt16LE(at + 6), 20, 'Excel refuses archives that need more than ZIP 2.0');
    const [crc, compressedBytes, contentBytes] = [
      archive.readUInt32LE(at + 16),
      archive.readUInt32LE(at + 20),
      archive.readUInt32LE(at + 24),
    ];
    const [nameBytes, extraBytes] = [archive.readUInt16LE(at + 28), archive.readUInt16LE(at + 30)];
    const name = archive.toString('utf8', at + 46, at + 46 + nameBytes);
    const local = archive.readUInt32LE(at + 42);
    assert.equal(archive.readUInt32LE(local), 0x04034b50);
    assert.equal(archive.readUInt16LE(local + 4), 20, 'Excel refuses archives that need more than ZIP 2.0');
    const start = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
    const content = inflateRawSync(archive.subarray(start, start + compressedBytes));
    assert.equal(content.length, contentBytes);
    assert.equal(crc32(content), crc);
    files.set(name, content.toString());
    at += 46 + nameBytes + extraBytes;
  }
  assert.equal(at, end);
  return files;
}
