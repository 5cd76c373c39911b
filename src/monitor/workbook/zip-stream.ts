import { Readable, pipeline } from 'node:stream';
import { crc32, createDeflateRaw } from 'node:zlib';

/** A file of the archive. Its name is plain ASCII; its content is read piece by piece. */
export type ZipFile = { readonly name: string; readonly content: Iterable<string> };

type WrittenFile = {
  readonly nameBytes: Buffer;
  readonly offset: number;
  readonly crc: number;
  readonly compressedBytes: number;
  readonly contentBytes: number;
};

// Excel refuses archives that declare ZIP 4.5, as writers prepared for ZIP64 do (Touffy/client-zip issue 59, zlib-ng/minizip-ng issue 894).
const ZIP_VERSION = 20;
const UINT32_MAX = 0xffff_ffff;
/** Bit 3: sizes and checksum follow the content, so that it can be streamed. */
const SIZES_FOLLOW_FLAG = 0x0008;
const DEFLATE_METHOD = 8;
// Sheet XML repeats itself: level 3 makes it nine times smaller, and higher levels gain little for much more time.
const DEFLATE_LEVEL = 3;
const CHUNK_BYTES = 64 * 1024;

/**
 * A ZIP archive as a stream of bytes. Only what is being compressed is in memory, and content is read no faster than the archive is.
 * Throws RangeError when a file or the archive outgrows the 4 GiB of ZIP 2.0. Times are written in UTC.
 */
export async function* createZipStream(files: Iterable<ZipFile>, modifiedAtMs: number): AsyncGenerator<Buffer> {
  const modified = encodeDosTime(modifiedAtMs);
  const written: WrittenFile[] = [];
  let offset = 0;
  for (const { name, content } of files) {
    const nameBytes = Buffer.from(name, 'latin1');
    const start = offset;
    const tally = { crc: 0, contentBytes: 0, compressedBytes: 0 };
    const header = encodeLocalHeader(nameBytes, modified);
    yield header;
    for await (const chunk of deflate(content, tally)) {
      tally.compressedBytes += chunk.length;
      yield chunk;
    }
    const descriptor = encodeSizes(tally);
    yield descriptor;
    offset += header.length + tally.compressedBytes + descriptor.length;
    assertUint32(offset);
    written.push({ nameBytes, offset: start, ...tally });
  }
  const directory = Buffer.concat(written.map((file) => encodeDirectoryEntry(file, modified)));
  assertUint32(offset + directory.length);
  yield directory;
  yield encodeDirectoryEnd(written.length, directory.length, offset);
}

type Tally = { crc: number; contentBytes: number };

function deflate(content: Iterable<string>, tally: Tally): AsyncIterable<Buffer> {
  const compressor = createDeflateRaw({ level: DEFLATE_LEVEL, chunkSize: CHUNK_BYTES });
  pipeline(Readable.from(countBytes(content, tally), { objectMode: false, highWaterMark: CHUNK_BYTES }), compressor, () => {
    // A failure destroys the compressor with the same error, and whoever reads it receives it there.
  });
  return compressor;
}

function* countBytes(content: Iterable<string>, tally: Tally): Generator<Buffer> {
  for (const text of content) {
    const bytes = Buffer.from(text);
    tally.crc = crc32(bytes, tally.crc);
    tally.contentBytes += bytes.length;
    assertUint32(tally.contentBytes);
    yield bytes;
  }
}

function encodeLocalHeader(nameBytes: Buffer, modified: number): Buffer {
  const header = Buffer.alloc(30);
  header.writeUInt32LE(0x04034b50, 0);
  header.writeUInt16LE(ZIP_VERSION, 4);
  header.writeUInt16LE(SIZES_FOLLOW_FLAG, 6);
  header.writeUInt16LE(DEFLATE_METHOD, 8);
  header.writeUInt32LE(modified, 10);
  header.writeUInt16LE(nameBytes.length, 26);
  return Buffer.concat([header, nameBytes]);
}

function encodeSizes(file: { crc: number; compressedBytes: number; contentBytes: number }): Buffer {
  const descriptor = Buffer.alloc(16);
  descriptor.writeUInt32LE(0x08074b50, 0);
  writeSizes(descriptor, 4, file);
  return descriptor;
}

function writeSizes(target: Buffer, at: number, file: { crc: number; compressedBytes: number; contentBytes: number }): void {
  target.writeUInt32LE(file.crc, at);
  target.writeUInt32LE(file.compressedBytes, at + 4);
  target.writeUInt32LE(file.contentBytes, at + 8);
}

function encodeDirectoryEntry(file: WrittenFile, modified: number): Buffer {
  const entry = Buffer.alloc(46);
  entry.writeUInt32LE(0x02014b50, 0);
  entry.writeUInt16LE(ZIP_VERSION, 4);
  entry.writeUInt16LE(ZIP_VERSION, 6);
  entry.writeUInt16LE(SIZES_FOLLOW_FLAG, 8);
  entry.writeUInt16LE(DEFLATE_METHOD, 10);
  entry.writeUInt32LE(modified, 12);
  writeSizes(entry, 16, file);
  entry.writeUInt16LE(file.nameBytes.length, 28);
  entry.writeUInt32LE(file.offset, 42);
  return Buffer.concat([entry, file.nameBytes]);
}

function encodeDirectoryEnd(files: number, directoryBytes: number, directoryOffset: number): Buffer {
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(files, 8);
  end.writeUInt16LE(files, 10);
  end.writeUInt32LE(directoryBytes, 12);
  end.writeUInt32LE(directoryOffset, 16);
  return end;
}

/** MS-DOS time and date in one word: two-second steps since 1980. */
function encodeDosTime(ms: number): number {
  const time = new Date(ms);
  const year = Math.min(Math.max(time.getUTCFullYear(), 1980), 2107);
  const date = ((year - 1980) << 9) | ((time.getUTCMonth() + 1) << 5) | time.getUTCDate();
  const clock = (time.getUTCHours() << 11) | (time.getUTCMinutes() << 5) | (time.getUTCSeconds() >> 1);
  return date * 0x1_0000 + clock;
}

function assertUint32(bytes: number): void {
  if (bytes > UINT32_MAX) throw new RangeError('A ZIP 2.0 archive holds at most 4 GiB.');
}
