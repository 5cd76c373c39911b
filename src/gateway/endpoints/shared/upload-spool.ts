import { readdirSync, rmSync } from 'node:fs';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';

import { GatewayError } from '../../../inference/gateway-error.ts';
import { makeDirectory } from '../../../platform/make-directory.ts';

/** Smaller uploads stay in memory. */
export const heldBytesMax = 256 * 1024;
const readBytes = 64 * 1024;

/**
 * Where uploads wait until their upstream has them: in memory while they are small, else in files that only this process can read. A file loses its name as soon as
 * it is open, so that whatever ends the process leaves nothing.
 */
export class UploadSpool {
  readonly #directory: string;
  readonly #bytesMax: () => number;
  #bytes = 0;
  #files = 0;

  /**
   * Makes the directory and removes what a process may have left there that died between two system calls.
   * @param bytesMax what all files together may have
   */
  constructor(directory: string, bytesMax: () => number) {
    this.#directory = directory;
    this.#bytesMax = bytesMax;
    makeDirectory(directory);
    for (const name of readdirSync(directory)) if (name.startsWith('upload-')) rmSync(join(directory, name), { force: true });
  }

  /** Begins an upload. Whoever does so discards it. */
  begin(): SpooledUpload {
    return new SpooledUpload(this);
  }

  /** Opens a file that has no name any more. */
  async openFile(): Promise<FileHandle> {
    this.#files += 1;
    const path = join(this.#directory, `upload-${process.pid}-${this.#files}`);
    const handle = await open(path, 'wx+', 0o600);
    // Another process that begins may have swept it already.
    await unlink(path).catch(() => {});
    return handle;
  }

  /** Takes room for bytes of a file. @throws GatewayError `overloaded` when there is none */
  take(bytes: number): void {
    if (this.#bytes + bytes > this.#bytesMax()) throw noRoom('the uploads that are under way have all the room there is for them');
    this.#bytes += bytes;
  }

  giveBack(bytes: number): void {
    this.#bytes -= bytes;
  }
}

function noRoom(internal: string, cause?: unknown): GatewayError {
  const message = 'The gateway holds as many uploads as it can. Please try again in 1s.';
  return new GatewayError('overloaded', message, { retryAfterSeconds: 1, internal, cause });
}

/** One upload. It can be read as often as attempts need it, until it is discarded. */
export class SpooledUpload {
  readonly #spool: UploadSpool;
  #held: Buffer[] = [];
  #handle: FileHandle | undefined;
  #bytes = 0;
  #taken = 0;
  #isDiscarded = false;

  constructor(spool: UploadSpool) {
    this.#spool = spool;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get isDiscarded(): boolean {
    return this.#isDiscarded;
  }

  /** Adds to its end. @throws GatewayError `overloaded` when nothing more fits on the disk */
  async write(chunk: Buffer): Promise<void> {
    if (this.#isDiscarded) throw new Error('an upload that was discarded is written to');
    if (this.#handle === undefined && this.#bytes + chunk.length <= heldBytesMax) {
      this.#held.push(chunk);
      this.#bytes += chunk.length;
      return;
    }
    try {
      await this.#toFile(chunk);
    } catch (error) {
      throw error instanceof GatewayError ? error : noRoom('an upload could not be written to the disk', error);
    }
  }

  async #toFile(chunk: Buffer): Promise<void> {
    if (this.#handle === undefined) {
      const held = Buffer.concat(this.#held);
      this.#take(held.length);
      const handle = await this.#spool.openFile();
      // Its client may have left meanwhile.
      if (this.#isDiscarded) {
        await handle.close();
        return;
      }
      this.#handle = handle;
      this.#held = [];
      await writeAll(handle, held, 0);
    }
    this.#take(chunk.length);
    await writeAll(this.#handle, chunk, this.#bytes);
    this.#bytes += chunk.length;
  }

  #take(bytes: number): void {
    this.#spool.take(bytes);
    this.#taken += bytes;
  }

  /** What lies from `start` to before `end`; less where it is shorter. */
  async readAt(start: number, end: number): Promise<Buffer> {
    if (this.#isDiscarded) throw new Error('an upload that was discarded is read');
    if (this.#handle === undefined) return Buffer.concat(this.#held).subarray(start, end);
    const piece = Buffer.allocUnsafe(Math.max(0, Math.min(end, this.#bytes) - start));
    let filled = 0;
    while (filled < piece.length) {
      const { bytesRead } = await this.#handle.read(piece, filled, piece.length - filled, start + filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return piece.subarray(0, filled);
  }

  /** All of it, from the beginning, a piece at a time. */
  async *read(): AsyncGenerator<Buffer> {
    for (let at = 0; at < this.#bytes; at += readBytes) yield await this.readAt(at, Math.min(at + readBytes, this.#bytes));
  }

  /** Gives back everything it has. Harmless when repeated, and whenever it comes. */
  async discard(): Promise<void> {
    if (this.#isDiscarded) return;
    this.#isDiscarded = true;
    this.#held = [];
    this.#spool.giveBack(this.#taken);
    this.#taken = 0;
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close();
  }
}

async function writeAll(handle: FileHandle, bytes: Buffer, position: number): Promise<void> {
  let written = 0;
  while (written < bytes.length) written += (await handle.write(bytes, written, bytes.length - written, position + written)).bytesWritten;
}
