import { inflateRawSync } from 'node:zlib';

import { ExtractionError } from './extraction-error.ts';

const unpackedBytesMax = 64 * 1024 * 1024;
const entriesMax = 10_000;
const endSignature = 0x06054b50;
const entrySignature = 0x02014b50;
const stored = 0;
const deflated = 8;

/**
 * Unpacks an archive once to verify its limits. The sizes that an archive declares may be false, and the library that
 * reads documents trusts them. @throws ExtractionError if it exceeds a limit or is not an archive
 */
export function checkArchive(archive: Buffer): void {
  try {
    unpack(archive);
  } catch (cause) {
    if (cause instanceof ExtractionError) throw cause;
    if (cause instanceof Error && 'code' in cause && cause.code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge();
    throw new ExtractionError('invalid_file', 'The document is damaged.', { cause });
  }
}

function unpack(archive: Buffer): void {
  const end = archive.lastIndexOf(Buffer.from([0x50, 0x4b, 0x05, 0x06]));
  if (end === -1 || archive.readUInt32LE(end) !== endSignature) throw new ExtractionError('invalid_file', 'The document is damaged.');
  const entries = archive.readUInt16LE(end + 10);
  if (entries > entriesMax) throw new ExtractionError('invalid_file', 'The document has too many parts.');
  let at = archive.readUInt32LE(end + 16);
  let left = unpackedBytesMax;
  for (let entry = 0; entry < entries; entry++) {
    if (archive.readUInt32LE(at) !== entrySignature) throw new ExtractionError('invalid_file', 'The document is damaged.');
    const method = archive.readUInt16LE(at + 10);
    const packedBytes = archive.readUInt32LE(at + 20);
    const header = archive.readUInt32LE(at + 42);
    const start = header + 30 + archive.readUInt16LE(header + 26) + archive.readUInt16LE(header + 28);
    const packed = archive.subarray(start, start + packedBytes);
    if (method !== stored && method !== deflated) throw new ExtractionError('invalid_file', 'The document uses an unknown compression.');
    left -= method === stored ? packed.length : inflateRawSync(packed, { maxOutputLength: Math.max(1, left) }).length;
    if (left <= 0) throw tooLarge();
    at += 46 + archive.readUInt16LE(at + 28) + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
  }
}

function tooLarge(): ExtractionError {
  return new ExtractionError('invalid_file', `The document unpacks to more than ${unpackedBytesMax} bytes.`);
}
