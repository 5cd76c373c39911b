import { Readable } from 'node:stream';
import { ZipFile } from 'yazl';

/** A file of the archive. Its content is read piece by piece, once its turn comes. */
export type ArchiveFile = { readonly name: string; readonly content: Iterable<string> | AsyncIterable<string> };

// Sheet XML repeats itself: level 3 makes it nine times smaller, and higher levels gain little for much more time.
const DEFLATE_LEVEL = 3;
const CHUNK_BYTES = 64 * 1024;

/**
 * A ZIP archive as a stream of bytes. Only what is being compressed is in memory, and content is read no faster than the archive is. Each file is asked for when the one before it has been
 * read to its end, so that it may depend on that. A failure on the way destroys the stream, which then never ends; destroying the stream stops the reading. Up to 4 GiB nothing in the
 * archive needs more than ZIP 2.0.
 */
export function createArchiveStream(files: Iterable<ArchiveFile>, modifiedAtMs: number): Readable {
  const archive = new ZipFile();
  // A PassThrough; the types of the library promise less than it keeps.
  const output = archive.outputStream as Readable;
  const options = { mtime: new Date(modifiedAtMs), compressionLevel: DEFLATE_LEVEL };
  const iterator = files[Symbol.iterator]();
  let source: Readable | undefined;
  output.once('close', () => source?.destroy());
  archive.once('error', (error: Error) => output.destroy(error));

  const takeNext = (): IteratorResult<ArchiveFile> | undefined => {
    try {
      return iterator.next();
    } catch (error) {
      output.destroy(error instanceof Error ? error : new Error('The files of the archive broke off.', { cause: error }));
      return undefined;
    }
  };
  const addNext = (): void => {
    const next = takeNext();
    if (next === undefined) return;
    if (next.done === true) {
      archive.end();
      return;
    }
    const { name, content } = next.value;
    archive.addReadStreamLazy(name, options, (useContent) => {
      // The library only pipes: it neither hears of a content that failed nor tells a content that nobody reads the archive any more.
      source = Readable.from(encodeText(content), { objectMode: false, highWaterMark: CHUNK_BYTES });
      source.once('error', (error) => output.destroy(error));
      source.once('end', addNext);
      useContent(undefined, source);
    });
  };
  addNext();
  return output;
}

async function* encodeText(content: ArchiveFile['content']): AsyncGenerator<Buffer> {
  for await (const text of content) yield Buffer.from(text);
}
