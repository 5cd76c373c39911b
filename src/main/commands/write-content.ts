import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import { StartError } from '../environment.ts';

/**
 * Writes a streamed answer to a new file, or to standard output for `-`. A file that could not be written whole does
 * not stay, and a refusal makes none.
 * @throws StartError if the file exists; the error of the stream
 */
export async function writeContent(pieces: AsyncGenerator<string | Uint8Array>, file: string): Promise<void> {
  if (file === '-') {
    for await (const piece of pieces) if (!process.stdout.write(piece)) await new Promise((go) => process.stdout.once('drain', go));
    return;
  }
  // Read first: a refusal makes no file.
  const first = await pieces.next();
  const output = createWriteStream(file, { flags: 'wx' });
  try {
    await pipeline(Readable.from(withFirst(first, pieces)), output);
  } catch (error) {
    const isOther = error instanceof Error && 'code' in error && error.code === 'EEXIST';
    if (!isOther) await rm(file, { force: true });
    throw isOther ? new StartError(`${file} exists already`) : error;
  }
}

async function* withFirst<Piece>(first: IteratorResult<Piece>, rest: AsyncIterable<Piece>): AsyncGenerator<Piece> {
  if (first.done === true) return;
  yield first.value;
  yield* rest;
}
