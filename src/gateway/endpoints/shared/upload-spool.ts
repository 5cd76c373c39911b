import { readdirSync, rmSync } from 'node:fs';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';

import { GatewayError } from '../../../inference/gateway-error.ts';
import { makeDirectory } from '../../../platform/make-directory.ts';

/** Smaller uploads stay in memory. */
export const heldBytesMax = 256 * 1024;
const readBytes = 64 * 1024;

/**
 * Stores uploads until their upstream has them: small ones in memory, others in files that only this process can read.
 * A file loses its name as soon as it is open, so that nothing remains however the process ends.
 */
export class UploadSpool {
  readonly #directory: string;
  readonly #bytesMax: () => number;
  #bytes = 0;
  #files = 0;

  /**
   * Creates the directory and removes files of a process that died between two system calls.
   * @param bytesMax the most bytes of all files together
   */
  constructor(directory: string, bytesMax: () => number) {
    this.#directory = directory;
    this.#bytesMax = bytesMax;
    makeDirectory(directory);
    for (const name of readdirSync(directory)) if (name.startsWith('upload-')) rmSync(join(directory, name), { force: true });
  }

  /** Begins an upload. The caller must discard it. */
  begin(): SpooledUpload {
    return new SpooledUpload(this);
  }

  /** Opens a file and removes its name. */
  async openFile(): Promise<FileHandle> {
    this.#files += 1;
    const path = join(this.#directory, `upload-${process.pid}-${this.#files}`);
    const handle = await open(path, 'wx+', 0o600);
    // Another process that starts may have removed it already.
    await unlink(path).catch(() => {});
    return handle;
  }

  /** Reserves bytes on the disk. @throws GatewayError `overloaded` if there are not enough */
  reserve(bytes: number): void {
    if (this.#bytes + bytes > this.#bytesMax()) throw noRoom('the quota of the upload spool is used up');
    this.#bytes += bytes;
  }

  release(bytes: number): void {
    this.#bytes -= bytes;
  }
}

function noRoom(internal: string, cause?: unknown): GatewayError {
  const message = 'The gateway is overloaded: it has no room for more uploads. Please try again in 1s.';
  return new GatewayError('overloaded', message, { retryAfterSeconds: 1, internal, cause });
}

/** One upload. It can be read repeatedly until it is discarded. */
export class SpooledUpload {
  readonly #spool: UploadSpool;
  #held: Buffer[] = [];
  #handle: FileHandle | undefined;
  #bytes = 0;
  #reserved = 0;
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

  /** Appends bytes. @throws GatewayError `overloaded` if they do not fit on the disk */
  async write(chunk: Buffer): Promise<void> {
    if (this.#isDiscarded) throw new Error('a discarded upload was written to');
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
    const handle = this.#handle ?? (await this.#openFile());
    // The client may have disconnected meanwhile. Nothing would release what is reserved now.
    if (this.#isDiscarded) return;
    this.#reserve(chunk.length);
    await writeAll(handle, chunk, this.#bytes);
    this.#bytes += chunk.length;
  }

  /** Opens the file, which then has everything that was in memory. */
  async #openFile(): Promise<FileHandle> {
    const held = Buffer.concat(this.#held);
    this.#reserve(held.length);
    const handle = await this.#spool.openFile();
    if (this.#isDiscarded) await handle.close();
    else {
      this.#handle = handle;
      this.#held = [];
      await writeAll(handle, held, 0);
    }
    return handle;
  }

  #reserve(bytes: number): void {
    this.#spool.reserve(bytes);
    this.#reserved += bytes;
  }

  /** The bytes from `start` to before `end`; fewer if the upload is shorter. */
  async readAt(start: number, end: number): Promise<Buffer> {
    if (this.#isDiscarded) throw new Error('a discarded upload was read');
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

  /** All bytes from the beginning, in pieces. */
  async *read(): AsyncGenerator<Buffer> {
    for (let at = 0; at < this.#bytes; at += readBytes) yield await this.readAt(at, Math.min(at + readBytes, this.#bytes));
  }

  /** Releases everything. Can be called repeatedly and at any time. */
  async discard(): Promise<void> {
    if (this.#isDiscarded) return;
    this.#isDiscarded = true;
    this.#held = [];
    this.#spool.release(this.#reserved);
    this.#reserved = 0;
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close();
  }
}

async function writeAll(handle: FileHandle, bytes: Buffer, position: number): Promise<void> {
  let written = 0;
  while (written < bytes.length) written += (await handle.write(bytes, written, bytes.length - written, position + written)).bytesWritten;
}
