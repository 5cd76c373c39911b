import { setImmediate } from 'node:timers/promises';
import { constants, crc32, deflateRawSync } from 'node:zlib';
import { type ZipEntry, encodeDescriptor, encodeDirectory, encodeFileHeader } from './zip-records.ts';

/** A file of the archive. Its content is read piece by piece, after the files before it. */
export type ArchiveFile = { readonly name: string; readonly content: Iterable<string> | AsyncIterable<string> };

// Sheet XML is repetitive: level 3 makes it nine times smaller, and higher levels gain little for much more time.
const DEFLATE_LEVEL = 3;
/** Characters that are compressed at a time: enough that repeating the window before them costs little. */
const BLOCK_CHARACTERS = 256 * 1024;
/** How far back a match may be. */
const WINDOW_BYTES = 32 * 1024;
/** An empty last block. */
const LAST_BLOCK = Buffer.from([0x03, 0x00]);

/**
 * A ZIP archive, byte by byte while it is read. Only the block that is being compressed is in memory, and content is
 * read no faster than the archive. The next file is requested when the one before it has been read completely, so it
 * may depend on that one. A failure ends the archive without its directory. A reader that stops must return the
 * iterator, which closes the content. An archive of up to 4 GiB needs only ZIP 2.0.
 *
 * Compression runs in the thread that writes and not in the pool: an answer then uses one processor at most, and no
 * piece waits for another thread.
 */
export async function* createArchiveStream(files: Iterable<ArchiveFile>, modifiedAtMs: number): AsyncGenerator<Buffer, undefined> {
  const entries: ZipEntry[] = [];
  let offset = 0;
  for (const { name, content } of files) {
    const header = encodeFileHeader({ name, modifiedAtMs });
    yield header;
    const compressor = new Compressor();
    for await (const block of joinPieces(content)) {
      yield compressor.add(block);
      // The content may be available at once, and other work waits for the event loop.
      await setImmediate();
    }
    yield LAST_BLOCK;
    const { checksum, contentBytes } = compressor;
    const compressedBytes = compressor.compressedBytes + LAST_BLOCK.length;
    const entry = { name, modifiedAtMs, checksum, contentBytes, compressedBytes, offset };
    const descriptor = encodeDescriptor(entry);
    yield descriptor;
    entries.push(entry);
    offset += header.length + compressedBytes + descriptor.length;
  }
  yield encodeDirectory(entries, offset);
  return undefined;
}

async function* joinPieces(content: ArchiveFile['content']): AsyncGenerator<string> {
  let text = '';
  for await (const piece of content) {
    text += piece;
    if (text.length < BLOCK_CHARACTERS) continue;
    yield text;
    text = '';
  }
  if (text !== '') yield text;
}

/** Compresses one text block by block. Each block ends at a whole byte, and may refer back to earlier blocks. */
class Compressor {
  checksum = 0;
  contentBytes = 0;
  compressedBytes = 0;
  readonly #encoder = new TextEncoder();
  /** The end of the compressed text, followed by the block. */
  #memory = new Uint8Array(WINDOW_BYTES + BLOCK_CHARACTERS + BLOCK_CHARACTERS / 4);
  #windowBytes = 0;

  add(text: string): Buffer {
    const block = this.#write(text);
    this.checksum = crc32(block, this.checksum);
    this.contentBytes += block.length;
    const compressed = deflateRawSync(block, {
      level: DEFLATE_LEVEL,
      finishFlush: constants.Z_SYNC_FLUSH,
      ...(this.#windowBytes === 0 ? {} : { dictionary: this.#memory.subarray(0, this.#windowBytes) }),
    });
    this.compressedBytes += compressed.length;
    const end = this.#windowBytes + block.length;
    const windowBytes = Math.min(WINDOW_BYTES, end);
    this.#memory.copyWithin(0, end - windowBytes, end);
    this.#windowBytes = windowBytes;
    return compressed;
  }

  /** Writes the text after the window. Text that is mostly not ASCII needs more bytes than it has characters. */
  #write(text: string): Uint8Array {
    const { read, written } = this.#encoder.encodeInto(text, this.#memory.subarray(this.#windowBytes));
    if (read === text.length) return this.#memory.subarray(this.#windowBytes, this.#windowBytes + written);
    const larger = new Uint8Array(WINDOW_BYTES + text.length * 3);
    larger.set(this.#memory.subarray(0, this.#windowBytes));
    this.#memory = larger;
    return this.#write(text);
  }
}
