import { setImmediate } from 'node:timers/promises';
import { constants, crc32, deflateRawSync } from 'node:zlib';
import { type ZipEntry, encodeDescriptor, encodeDirectory, encodeFileHeader } from './zip-records.ts';

/** A file of the archive. Its content is read piece by piece, once its turn comes. */
export type ArchiveFile = { readonly name: string; readonly content: Iterable<string> | AsyncIterable<string> };

// Sheet XML repeats itself: level 3 makes it nine times smaller, and higher levels gain little for much more time.
const DEFLATE_LEVEL = 3;
/** Characters that are compressed at a time: enough for the text before them, in which matches are found, to cost little. */
const BLOCK_CHARACTERS = 256 * 1024;
/** How far back a match may lie. */
const WINDOW_BYTES = 32 * 1024;
/** A last block with nothing in it. */
const LAST_BLOCK = Buffer.from([0x03, 0x00]);

/**
 * A ZIP archive, byte by byte while it is read. Only what is being compressed is in memory, and content is read no faster than the archive is. Each file is asked for when the one before it has been
 * read to its end, so that it may depend on that. A failure on the way ends the archive without its directory; who reads no further returns the iterator, which stops the reading of the content. Up
 * to 4 GiB nothing in the archive needs more than ZIP 2.0.
 *
 * It is compressed in the thread that writes it, and not in the pool: an answer then takes one processor at most, and no piece waits to be handed over.
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
      // The content may be at hand as a whole, and others are waiting for the loop.
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

/** Compresses one text block by block. Each block ends at a whole byte, and may repeat what stands in those before it. */
class Compressor {
  checksum = 0;
  contentBytes = 0;
  compressedBytes = 0;
  readonly #encoder = new TextEncoder();
  /** The end of what was compressed, and behind it the block. */
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

  /** The text behind the window. Where most of it is no ASCII, it needs more room than it has characters. */
  #write(text: string): Uint8Array {
    const { read, written } = this.#encoder.encodeInto(text, this.#memory.subarray(this.#windowBytes));
    if (read === text.length) return this.#memory.subarray(this.#windowBytes, this.#windowBytes + written);
    const larger = new Uint8Array(WINDOW_BYTES + text.length * 3);
    larger.set(this.#memory.subarray(0, this.#windowBytes));
    this.#memory = larger;
    return this.#write(text);
  }
}
