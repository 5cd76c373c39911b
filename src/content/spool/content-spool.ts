import { randomBytes } from 'node:crypto';
import { type FileHandle, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { Clock } from '../../platform/clock.ts';
import { makeDirectoryAsync } from '../../platform/make-directory.ts';
import type { Sealer } from '../../platform/seal/sealer.ts';

/** A batch of records that is complete: sinks receive whole batches. */
export type SpooledBatch = { readonly number: number; readonly bytes: number };

export type SpoolOptions = {
  readonly directory: string;
  readonly sealer: Sealer;
  /** Batches are numbered from the time of the start on, so that no number is used again when all were sent. */
  readonly clock: Pick<Clock, 'nowMs'>;
  /** The most bytes of all batches together. Read at each record. */
  readonly bytesMax: () => number;
};

type OpenBatch = { readonly number: number; readonly handle: FileHandle; bytes: number };

const extension = '.sealed';
const batchName = /^(\d{15})\.sealed$/;
const sentName = /^(\d{15})\.sent\.[A-Za-z0-9._-]{1,64}$/;
const numberDigits = 15;
const idBytes = 16;
const headBytes = 4 + idBytes;
/** A batch is complete at this size, also before its time. */
const batchBytesMax = 4 * 1024 * 1024;

/**
 * Records that sinks have not received yet, sealed in files of one directory, which no other process uses. A record
 * that `append` has accepted survives the end of the process and of the machine. A file is a batch: records that each
 * have their length, an id and their sealed bytes. A record that was cut by a crash was not accepted, and is ignored.
 */
export class ContentSpool {
  readonly #options: SpoolOptions;
  #bytes = 0;
  #next: number;
  #open: OpenBatch | undefined;
  /** The number of the batch that is written. Set before its file exists, because others list the files. */
  #openNumber: number | undefined;
  #waiting: { readonly sealed: Uint8Array; readonly done: PromiseWithResolvers<void> }[] = [];
  #writing: Promise<void> = Promise.resolve();

  private constructor(options: SpoolOptions) {
    this.#options = options;
    this.#next = options.clock.nowMs();
  }

  /** @throws Error if the directory cannot be used */
  static async open(options: SpoolOptions): Promise<ContentSpool> {
    const spool = new ContentSpool(options);
    await makeDirectoryAsync(options.directory);
    for (const { number, bytes } of await spool.batches()) {
      spool.#bytes += bytes;
      spool.#next = Math.max(spool.#next, number + 1);
    }
    return spool;
  }

  /** Bytes of all batches. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Adds a record. Resolves when it is on the disk. `full`: there is no room, and it is not kept. Rejects with the
   * error of the disk.
   */
  async append(record: Uint8Array): Promise<'kept' | 'full'> {
    const length = headBytes + 64 + record.length;
    if (this.#bytes + length > this.#options.bytesMax()) return 'full';
    const id = randomBytes(idBytes);
    const sealed = this.#options.sealer.seal(id, record);
    const head = Buffer.alloc(4);
    head.writeUInt32BE(sealed.length);
    const waiting = { sealed: Buffer.concat([head, id, sealed]), done: Promise.withResolvers<void>() };
    this.#bytes += waiting.sealed.length;
    this.#waiting.push(waiting);
    if (this.#waiting.length === 1) this.#writing = this.#writing.then(() => this.#write());
    await waiting.done.promise;
    return 'kept';
  }

  /** Writes and syncs everything that waits, with one sync. */
  async #write(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = [];
    const bytes = Buffer.concat(waiting.map(({ sealed }) => sealed));
    try {
      const batch = (this.#open ??= await this.#begin());
      for (let at = 0; at < bytes.length;) at += (await batch.handle.write(bytes, at)).bytesWritten;
      await batch.handle.datasync();
      batch.bytes += bytes.length;
      for (const { done } of waiting) done.resolve();
      if (batch.bytes >= batchBytesMax) await this.#close();
    } catch (error) {
      this.#bytes -= bytes.length;
      for (const { done } of waiting) done.reject(error);
      // Its written part is not accepted, so nothing may follow it in its file.
      await this.#close().catch(() => undefined);
    }
  }

  async #begin(): Promise<OpenBatch> {
    const number = this.#next;
    this.#next += 1;
    this.#openNumber = number;
    const handle = await open(this.#pathOf(number), 'wx', 0o600);
    await syncFolder(this.#options.directory);
    return { number, handle, bytes: 0 };
  }

  async #close(): Promise<void> {
    const batch = this.#open;
    this.#open = undefined;
    this.#openNumber = undefined;
    await batch?.handle.close();
  }

  /** Completes the present batch, if it has records. */
  async completeBatch(): Promise<void> {
    const closing = this.#writing.then(() => this.#close());
    this.#writing = closing.catch(() => undefined);
    await closing;
  }

  /** Complete batches, oldest first. */
  async batches(): Promise<readonly SpooledBatch[]> {
    const names = await readdir(this.#options.directory);
    const numbers = names.flatMap((name) => batchName.exec(name)?.[1] ?? []).map(Number);
    const complete = numbers.filter((number) => number !== this.#openNumber).toSorted((first, second) => first - second);
    return await Promise.all(complete.map(async (number) => ({ number, bytes: (await stat(this.#pathOf(number))).size })));
  }

  /**
   * The records of a batch. Records that cannot be opened (another key, damage) are counted and left out; so is a last
   * one that is cut, which was never accepted.
   */
  async read(number: number): Promise<{ readonly records: readonly Buffer[]; readonly damaged: number }> {
    const bytes = await readFile(this.#pathOf(number));
    const records: Buffer[] = [];
    let damaged = 0;
    for (let at = 0; at + headBytes <= bytes.length;) {
      const end = at + headBytes + bytes.readUInt32BE(at);
      if (end > bytes.length) break;
      const record = this.#options.sealer.open(bytes.subarray(at + 4, at + headBytes), bytes.subarray(at + headBytes, end));
      if (record === undefined) damaged += 1;
      else records.push(record);
      at = end;
    }
    return { records, damaged };
  }

  /** The sinks that have a batch. */
  async sentTo(number: number): Promise<readonly string[]> {
    const names = await readdir(this.#options.directory);
    return names
      .filter((name) => sentName.test(name) && Number(name.slice(0, numberDigits)) === number)
      .map((name) => name.slice(numberDigits + '.sent.'.length));
  }

  /** Remembers that a sink has a batch. @param sink letters, digits, `.`, `_` and `-` */
  async noteSent(number: number, sink: string): Promise<void> {
    await writeFile(join(this.#options.directory, `${digitsOf(number)}.sent.${sink}`), '', { mode: 0o600 });
  }

  /** Deletes a batch that all sinks have. */
  async remove({ number, bytes }: SpooledBatch): Promise<void> {
    const names = await readdir(this.#options.directory);
    await rm(this.#pathOf(number), { force: true });
    this.#bytes -= bytes;
    for (const name of names)
      if (name.startsWith(`${digitsOf(number)}.sent.`)) await rm(join(this.#options.directory, name), { force: true });
  }

  /** Takes over the batches in the directory of a process that is gone. Of two that try, each batch goes to one. */
  async adopt(directory: string): Promise<number> {
    const names = await readdir(directory).catch(() => []);
    let adopted = 0;
    for (const name of names.filter((each) => batchName.test(each)).toSorted()) {
      const number = this.#next;
      this.#next += 1;
      const path = this.#pathOf(number);
      const isMine = await rename(join(directory, name), path).then(
        () => true,
        () => false,
      );
      if (!isMine) continue;
      adopted += 1;
      this.#bytes += (await stat(path)).size;
    }
    return adopted;
  }

  async close(): Promise<void> {
    await this.completeBatch();
  }

  #pathOf(number: number): string {
    return join(this.#options.directory, digitsOf(number) + extension);
  }
}

function digitsOf(number: number): string {
  return String(number).padStart(numberDigits, '0');
}

async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
