import { Readable } from 'node:stream';
import { ZipFile } from 'yazl';

/** A file of the archive. Its content is read piece by piece, once its turn comes. */
export type ArchiveFile = { readonly name: string; readonly content: Iterable<string> };

// Sheet XML repeats itself: level 3 makes it nine times smaller, and higher levels gain little for much more time.
const DEFLATE_LEVEL = 3;
const CHUNK_BYTES = 64 * 1024;

/**
 * A ZIP archive as a stream of bytes. Only what is being compressed is in memory, and content is read no faster than the archive is.
 * A failure on the way destroys the stream, which then never ends; destroying the stream stops the reading. Up to 4 GiB nothing in the
 * archive needs more than ZIP 2.0.
 */
export function createArchiveStream(files: Iterable<ArchiveFile>, modifiedAtMs: number): Readable {
  const archive = new ZipFile();
  // A PassThrough; the types of the library promise less than it keeps.
  const output = archive.outputStream as Readable;
  const options = { mtime: new Date(modifiedAtMs), compressionLevel: DEFLATE_LEVEL };
  let source: Readable | undefined;
  // The library only pipes: it neither hears of a content that failed nor tells a content that nobody reads the archive any more.
  const openContent = (content: Iterable<string>): Readable => {
    source = Readable.from(encodeText(content), { objectMode: false, highWaterMark: CHUNK_BYTES });
    source.once('error', (error) => output.destroy(error));
    return source;
  };
  output.once('close', () => source?.destroy());
  archive.once('error', (error: Error) => output.destroy(error));
  for (const { name, content } of files) {
    archive.addReadStreamLazy(name, options, (useContent) => useContent(undefined, openContent(content)));
  }
  archive.end();
  return output;
}

function* encodeText(content: Iterable<string>): Generator<Buffer> {
  for (const text of content) yield Buffer.from(text);
}
