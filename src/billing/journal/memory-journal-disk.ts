import type { JournalDisk } from './journal-disk.ts';

type MemoryFile = { bytes: Buffer; syncedBytes: number };

/** Called before an operation with its path; throws to make it fail, and for `write` may return how many bytes are taken. */
export type DiskFault = (operation: keyof JournalDisk, path: string) => number | void | Promise<void>;

/** A disk in memory, for tests: it can tear, fail, hang and forget. */
export class MemoryJournalDisk implements JournalDisk {
  readonly files: Map<string, MemoryFile>;
  fault: DiskFault | undefined;
  readonly #handles = new Map<number, string>();
  #lastHandle = 0;
  #locked = false;

  constructor(files = new Map<string, MemoryFile>()) {
    this.files = files;
  }

  /** What another process finds: after a kill everything that was handed over, after a power loss only what had been synced. */
  afterCrash(kind: 'kill' | 'power-loss'): MemoryJournalDisk {
    const kept = [...this.files].map(([path, { bytes, syncedBytes }]): [string, MemoryFile] => {
      const left = Buffer.from(kind === 'kill' ? bytes : bytes.subarray(0, syncedBytes));
      return [path, { bytes: left, syncedBytes: left.length }];
    });
    return new MemoryJournalDisk(new Map(kept));
  }

  prepare(directory: string): void {
    void this.fault?.('prepare', directory);
  }

  lock(directory: string): () => void {
    if (this.#locked) throw new Error(`another process is using ${directory}`);
    this.#locked = true;
    return () => {
      this.#locked = false;
    };
  }

  list(directory: string): readonly string[] {
    return [...this.files.keys()].map((path) => path.slice(directory.length + 1));
  }

  create(path: string): number {
    void this.fault?.('create', path);
    if (this.files.has(path)) throw Object.assign(new Error(`EEXIST: ${path}`), { code: 'EEXIST' });
    this.files.set(path, { bytes: Buffer.alloc(0), syncedBytes: 0 });
    this.#lastHandle += 1;
    this.#handles.set(this.#lastHandle, path);
    return this.#lastHandle;
  }

  write(handle: number, bytes: Buffer, offset: number, length: number): number {
    const path = this.#pathOf(handle);
    const taken = this.fault?.('write', path);
    const count = typeof taken === 'number' ? Math.min(taken, length) : length;
    const file = this.#file(path);
    file.bytes = Buffer.concat([file.bytes, bytes.subarray(offset, offset + count)]);
    return count;
  }

  async sync(handle: number): Promise<void> {
    const path = this.#pathOf(handle);
    const file = this.files.get(path);
    const length = file?.bytes.length ?? 0;
    await this.fault?.('sync', path);
    if (file !== undefined) file.syncedBytes = Math.max(file.syncedBytes, length);
  }

  async syncDirectory(directory: string): Promise<void> {
    await this.fault?.('syncDirectory', directory);
  }

  close(handle: number): void {
    void this.fault?.('close', this.#pathOf(handle));
    this.#handles.delete(handle);
  }

  read(path: string): Buffer {
    void this.fault?.('read', path);
    return Buffer.from(this.#file(path).bytes);
  }

  readAt(path: string, offset: number, length: number): Buffer {
    void this.fault?.('readAt', path);
    return Buffer.from(this.#file(path).bytes.subarray(offset, offset + length));
  }

  truncate(path: string, length: number): void {
    const file = this.#file(path);
    file.bytes = file.bytes.subarray(0, length);
    file.syncedBytes = file.bytes.length;
  }

  rename(from: string, to: string): void {
    this.files.set(to, this.#file(from));
    this.files.delete(from);
  }

  remove(path: string): void {
    void this.fault?.('remove', path);
    this.#file(path);
    this.files.delete(path);
  }

  get openHandles(): number {
    return this.#handles.size;
  }

  #file(path: string): MemoryFile {
    const found = this.files.get(path);
    if (found === undefined) throw Object.assign(new Error(`ENOENT: ${path}`), { code: 'ENOENT' });
    return found;
  }

  #pathOf(handle: number): string {
    const path = this.#handles.get(handle);
    if (path === undefined) throw Object.assign(new Error('EBADF'), { code: 'EBADF' });
    return path;
  }
}
