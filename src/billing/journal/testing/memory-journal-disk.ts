import type { JournalDisk } from '../journal-disk.ts';

type MemoryFile = {
  bytes: Buffer;
  syncedBytes: number;
  /** It was created with this length, and ends with zeros up to there. */
  created?: number;
};

/**
 * Called before an operation with its path. Throws to make it fail; for `write` it may return how many bytes are
 * accepted.
 */
export type DiskFault = (operation: keyof JournalDisk, path: string) => number | void | Promise<void>;

/** A change of names. Only a sync of the directory makes it durable. */
type NameChange =
  | { readonly type: 'create'; readonly path: string; readonly file: MemoryFile }
  | { readonly type: 'remove'; readonly path: string; readonly file: MemoryFile }
  | { readonly type: 'rename'; readonly from: string; readonly to: string; readonly file: MemoryFile };

/** The unit of a disk write. */
const sectorBytes = 512;

/** An in-memory disk for tests: it can tear, fail, hang and lose writes. */
export class MemoryJournalDisk implements JournalDisk {
  readonly files: Map<string, MemoryFile>;
  fault: DiskFault | undefined;
  readonly #handles = new Map<number, string>();
  #lastHandle = 0;
  #locked = false;
  /** The names after the last sync of the directory, and the changes of names since. */
  #lasting: Map<string, MemoryFile>;
  #changes: NameChange[] = [];

  constructor(files = new Map<string, MemoryFile>()) {
    this.files = files;
    this.#lasting = new Map(files);
  }

  /** The files that another process finds: after a kill all written bytes, after a power loss only synced ones. */
  afterCrash(kind: 'kill' | 'power-loss'): MemoryJournalDisk {
    const files = [...this.files].map(([path, { bytes, syncedBytes, created }]): [string, MemoryFile] => {
      const left = Buffer.from(kind === 'kill' ? bytes : bytes.subarray(0, syncedBytes));
      return [path, { bytes: left, syncedBytes: left.length, ...(created === undefined ? {} : { created }) }];
    });
    return new MemoryJournalDisk(new Map(files));
  }

  /**
   * The files that another process may find after a power loss. Synced bytes are there. Of later writes, any subset of
   * sectors is there, torn at any byte; a missing sector is zeros if the file is longer, and the file may have any
   * length beyond its synced part. Of files created, removed and renamed since the last sync of the directory, any
   * subset of changes took place.
   */
  afterPowerLoss(random: () => number): MemoryJournalDisk {
    const names = new Map(this.#lasting);
    for (const change of this.#changes) {
      if (random() < 0.5) continue;
      if (change.type === 'create') names.set(change.path, change.file);
      else if (change.type === 'remove') names.delete(change.path);
      else if (names.delete(change.from)) names.set(change.to, change.file);
    }
    const files = [...names].map(([path, file]): [string, MemoryFile] => {
      const bytes = loseUnsynced(file, random);
      return [path, { bytes, syncedBytes: bytes.length, ...(file.created === undefined ? {} : { created: file.created }) }];
    });
    return new MemoryJournalDisk(new Map(files));
  }

  /** The parts that survive every power loss: the synced beginnings of files whose names are synced. */
  lasting(): readonly { readonly path: string; readonly bytes: Buffer }[] {
    return [...this.#lasting].map(([path, { bytes, syncedBytes }]) => ({ path, bytes: bytes.subarray(0, syncedBytes) }));
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

  create(path: string, length: number): number {
    void this.fault?.('create', path);
    if (this.files.has(path)) throw Object.assign(new Error(`EEXIST: ${path}`), { code: 'EEXIST' });
    const file = { bytes: Buffer.alloc(0), syncedBytes: 0, created: length };
    this.files.set(path, file);
    this.#changes.push({ type: 'create', path, file });
    this.#lastHandle += 1;
    this.#handles.set(this.#lastHandle, path);
    return this.#lastHandle;
  }

  write(handle: number, bytes: Buffer, offset: number, length: number): number {
    const path = this.#pathOf(handle);
    const result = this.fault?.('write', path);
    const count = typeof result === 'number' ? Math.min(result, length) : length;
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
    const [names, changes] = [new Map(this.files), this.#changes.length];
    await this.fault?.('syncDirectory', directory);
    this.#lasting = names;
    this.#changes.splice(0, changes);
  }

  close(handle: number, length: number): void {
    const path = this.#pathOf(handle);
    void this.fault?.('close', path);
    this.#handles.delete(handle);
    const file = this.files.get(path);
    if (file === undefined) return;
    delete file.created;
    // Bytes of an incomplete write are cut off too.
    if (file.bytes.length > length) file.bytes = file.bytes.subarray(0, length);
    file.syncedBytes = Math.min(file.syncedBytes, file.bytes.length);
  }

  read(path: string): Buffer {
    void this.fault?.('read', path);
    const { bytes, created = 0 } = this.#file(path);
    return Buffer.concat([bytes, Buffer.alloc(Math.max(0, created - bytes.length))]);
  }

  readAt(path: string, offset: number, length: number): Buffer {
    void this.fault?.('readAt', path);
    return Buffer.from(this.#file(path).bytes.subarray(offset, offset + length));
  }

  truncate(path: string, length: number): void {
    const file = this.#file(path);
    file.bytes = file.bytes.subarray(0, length);
    file.syncedBytes = file.bytes.length;
    delete file.created;
  }

  rename(from: string, to: string): void {
    const file = this.#file(from);
    this.files.set(to, file);
    this.files.delete(from);
    this.#changes.push({ type: 'rename', from, to, file });
  }

  remove(path: string): void {
    void this.fault?.('remove', path);
    const file = this.#file(path);
    this.files.delete(path);
    this.#changes.push({ type: 'remove', path, file });
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

function loseUnsynced({ bytes, syncedBytes }: MemoryFile, random: () => number): Buffer {
  const length = syncedBytes + Math.floor(random() * (bytes.length - syncedBytes + 1));
  const left = Buffer.from(bytes.subarray(0, length));
  const share = random();
  for (let at = syncedBytes; at < length;) {
    const end = Math.min(length, (Math.floor(at / sectorBytes) + 1) * sectorBytes);
    if (random() >= share) left.fill(0, random() < 0.2 ? at + Math.floor(random() * (end - at)) : at, end);
    at = end;
  }
  return left;
}
