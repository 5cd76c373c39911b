import { join } from 'node:path';
import type { Logger } from '../../platform/log.ts';
import type { JournalDisk } from './journal-disk.ts';
import { type RecordType, createdBytes, encodeRecord, recordBytesBound } from './journal-record.ts';
import { JournalUnavailableError } from './journal.ts';
import { segmentName } from './segment-name.ts';
import { type SyncIntervals, SyncTimer } from './sync-timer.ts';

/** The position of a record. The writer changes it if it must write the record again elsewhere. */
export type RecordPosition = { segment: number; offset: number; readonly length: number };

export type SegmentWriterOptions = SyncIntervals & {
  readonly disk: JournalDisk;
  readonly directory: string;
  readonly logger: Pick<Logger, 'warn' | 'error'>;
  /** The number of the first segment to create. */
  readonly firstSegment: number;
  readonly segmentBytesMax: number;
  readonly retryIntervalMs: number;
  /** The most unsynced bytes before the journal is unavailable. */
  readonly unsyncedBytesMax: number;
  /** Records of an abandoned segment were written again. */
  readonly onMoved: (from: { readonly segment: number; readonly start: number; readonly end: number }, to: RecordStart) => void;
  /** The disk accepts records again after a failure. */
  readonly onHealed: () => void;
};

type RecordStart = { readonly segment: number; readonly start: number };

type Segment = { readonly number: number; readonly path: string; readonly handle: number; bytes: number; named: boolean };

/** Records that may not be on the disk yet: kept until a successful sync, so that they can be written again. */
type Chunk = {
  segment: Segment;
  start: number;
  readonly bytes: Buffer;
  length: number;
  /** The bytes of it that the operating system has. */
  written: number;
  sealed: boolean;
};

/** Called when a staged record is with the operating system, or with the refusal if it was not written. */
export type StagedCallback = (refusal: JournalUnavailableError | undefined) => void;

type Staged = { readonly callback: StagedCallback; refusal: JournalUnavailableError | undefined };

const chunkBytes = 256 * 1024;
const closedReason = 'the journal is closed';

/**
 * Appends records to numbered segments. A record is with the operating system when `append` returns, or when the
 * callback of a staged one is called, and on the disk within the sync interval. Only progress may take longer, because
 * the next record of its stream replaces it. Records that are staged in one turn of the event loop are written together
 * at its end. A segment whose write or sync has failed is never written again: every record that may not be on the disk
 * goes to a new one.
 */
export class SegmentWriter {
  readonly #options: SegmentWriterOptions;
  #nextNumber: number;
  #current: Segment | undefined;
  #chunks: Chunk[] = [];
  #spare: Buffer[] = [];
  /** Complete segments whose handles are closed when no sync can use them. */
  #leaving = new Set<Segment>();
  #syncing: Promise<void> | undefined;
  readonly #syncTimer: SyncTimer;
  #healTimer: NodeJS.Timeout | undefined;
  #failure: string | undefined;
  /** Whether the last sync failed. */
  #syncFailed = false;
  #closed = false;
  /** Staged records whose callbacks were not called yet, and how many of them have a result. */
  #staged: Staged[] = [];
  #decided = 0;

  constructor(options: SegmentWriterOptions) {
    this.#options = options;
    this.#syncTimer = new SyncTimer(options, () => void this.#sync());
    this.#nextNumber = options.firstSegment;
  }

  /** Opens the first segment. Throws the operating system's error. */
  start(): void {
    this.#current = this.#create();
  }

  /** The number of the current segment; earlier ones are complete. */
  get currentSegment(): number {
    return this.#current?.number ?? this.#nextNumber;
  }

  unavailableReason(): string | undefined {
    if (this.#closed) return closedReason;
    if (this.#failure !== undefined) return this.#failure;
    if (this.#unsyncedBytes() > this.#options.unsyncedBytesMax) return 'the disk of the journal is not keeping up';
    return undefined;
  }

  /**
   * Appends a record, whose payload may be in pieces. Throws JournalUnavailableError if it could not be passed to the
   * operating system; then it is not kept.
   */
  append(type: RecordType, ...json: readonly string[]): RecordPosition {
    const { chunk, at, length } = this.#encode(type, json);
    this.#writeOut();
    return { segment: chunk.segment.number, offset: chunk.start + at, length };
  }

  /**
   * Stages a record, which is written at the end of this turn of the event loop, or earlier together with an appended
   * one. `then` is called later in the same turn. Throws JournalUnavailableError if it is already known that the record
   * cannot be written; then `then` is not called.
   */
  stage(type: RecordType, json: readonly string[], then: StagedCallback): RecordPosition {
    const { chunk, at, length } = this.#encode(type, json);
    if (this.#staged.push({ callback: then, refusal: undefined }) === 1) setImmediate(() => this.#endTurn());
    return { segment: chunk.segment.number, offset: chunk.start + at, length };
  }

  /** Encodes a record into the current chunk. */
  #encode(type: RecordType, json: readonly string[]): { readonly chunk: Chunk; readonly at: number; readonly length: number } {
    // The limit of unsynced bytes refuses new calls. The records of running calls are bounded and always accepted.
    if (this.#closed) throw new JournalUnavailableError(closedReason);
    if (this.#failure !== undefined) throw new JournalUnavailableError(this.#failure);
    const chunk = this.#chunkFor(recordBytesBound(...json));
    this.#syncTimer.add(type);
    const at = chunk.length;
    const length = encodeRecord(chunk.bytes, at, type, ...json);
    chunk.length += length;
    chunk.segment.bytes += length;
    return { chunk, at, length };
  }

  #endTurn(): void {
    this.#tryWriteOut();
    const staged = this.#staged;
    this.#staged = [];
    this.#decided = 0;
    for (const { callback, refusal } of staged) callback(refusal);
  }

  /**
   * Passes all buffered records to the operating system. Throws JournalUnavailableError and drops them if that fails.
   */
  #writeOut(): void {
    if (this.#chunks.every((chunk) => chunk.written === chunk.length)) return;
    if (this.#failure !== undefined) throw this.#forgetUnwritten(undefined);
    try {
      for (const chunk of this.#chunks) this.#writeChunk(chunk);
    } catch (error) {
      if (!this.#replaceSegment(error)) throw this.#forgetUnwritten(error);
    }
    this.#decided = this.#staged.length;
    this.#scheduleSync();
  }

  /** The same without a caller that waits: a failure goes to the callbacks of staged records and to the next caller. */
  #tryWriteOut(): void {
    try {
      this.#writeOut();
    } catch (error) {
      if (!(error instanceof JournalUnavailableError)) throw error;
    }
  }

  #writeChunk(chunk: Chunk): void {
    if (chunk.written === chunk.length) return;
    this.#write(chunk.segment, chunk.bytes, chunk.written, chunk.length - chunk.written);
    chunk.written = chunk.length;
  }

  #forgetUnwritten(cause: unknown): JournalUnavailableError {
    for (const chunk of this.#chunks) {
      chunk.segment.bytes -= chunk.length - chunk.written;
      chunk.length = chunk.written;
    }
    const refusal = new JournalUnavailableError(this.#failure ?? 'the journal cannot be written', { cause });
    for (const staged of this.#staged.slice(this.#decided)) staged.refusal = refusal;
    this.#decided = this.#staged.length;
    return refusal;
  }

  /** Resolves when all present records are on the disk. Throws JournalUnavailableError if that is not possible. */
  async flush(): Promise<void> {
    this.#writeOut();
    const pending = new Set(this.#chunks);
    for (const chunk of pending) chunk.sealed = true;
    while (this.#chunks.some((chunk) => pending.has(chunk))) {
      if (this.#failure !== undefined) throw new JournalUnavailableError(this.#failure);
      await this.#sync();
    }
  }

  async close(): Promise<void> {
    clearTimeout(this.#healTimer);
    try {
      await this.flush();
    } finally {
      this.#closed = true;
      this.#syncTimer.stop();
      if (this.#current !== undefined) this.#leaving.add(this.#current);
      this.#current = undefined;
      this.#closeLeaving();
    }
  }

  #unsyncedBytes(): number {
    return this.#chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  }

  /** The chunk for the next record, in the current segment. */
  #chunkFor(bound: number): Chunk {
    const segment = this.#segmentWithRoom();
    const tail = this.#chunks.at(-1);
    if (tail !== undefined && !tail.sealed && tail.segment === segment && tail.length + bound <= tail.bytes.length) return tail;
    const bytes = bound > chunkBytes ? Buffer.allocUnsafeSlow(bound) : (this.#spare.pop() ?? Buffer.allocUnsafeSlow(chunkBytes));
    const chunk = { segment, start: segment.bytes, bytes, length: 0, written: 0, sealed: false };
    this.#chunks.push(chunk);
    return chunk;
  }

  #segmentWithRoom(): Segment {
    const current = this.#current;
    if (current !== undefined && current.bytes < this.#options.segmentBytesMax) return current;
    try {
      const next = this.#create();
      if (current !== undefined) this.#leaving.add(current);
      this.#current = next;
      return next;
    } catch (error) {
      this.#fail(error);
      throw new JournalUnavailableError(this.#failure ?? 'the journal cannot be written', { cause: error });
    }
  }

  #create(): Segment {
    const number = this.#nextNumber;
    const path = join(this.#options.directory, segmentName(number));
    const handle = this.#options.disk.create(path, createdBytes(this.#options.segmentBytesMax));
    this.#nextNumber += 1;
    return { number, path, handle, bytes: 0, named: false };
  }

  #write(segment: Segment, bytes: Buffer, offset: number, length: number): void {
    let done = 0;
    while (done < length) {
      const accepted = this.#options.disk.write(segment.handle, bytes, offset + done, length - done);
      if (accepted <= 0) throw new Error('the disk accepted no bytes');
      done += accepted;
    }
  }

  /** Abandons a segment that failed and writes its unsynced records into a new one. False if that fails too. */
  #replaceSegment(error: unknown): boolean {
    if (this.#current !== undefined) {
      this.#options.logger.error({ err: error, segment: this.#current.number }, 'journal segment abandoned');
      this.#leaving.add(this.#current);
    }
    this.#current = undefined;
    let next: Segment | undefined;
    try {
      next = this.#create();
      const starts: number[] = [];
      for (const chunk of this.#chunks) {
        starts.push(next.bytes);
        this.#write(next, chunk.bytes, 0, chunk.length);
        next.bytes += chunk.length;
      }
      this.#adopt(next, starts);
      return true;
    } catch (cause) {
      if (next !== undefined) this.#discard(next);
      this.#fail(cause);
      return false;
    }
  }

  #adopt(next: Segment, starts: readonly number[]): void {
    this.#current = next;
    this.#chunks.forEach((chunk, index) => {
      const from = { segment: chunk.segment.number, start: chunk.start, end: chunk.start + chunk.length };
      chunk.segment = next;
      chunk.start = starts[index] ?? 0;
      chunk.written = chunk.length;
      this.#options.onMoved(from, { segment: next.number, start: chunk.start });
    });
  }

  /** Removes an incomplete segment: otherwise a full disk would collect such files. */
  #discard(segment: Segment): void {
    try {
      this.#options.disk.close(segment.handle, 0);
      this.#options.disk.remove(segment.path);
    } catch (error) {
      this.#options.logger.warn({ err: error, segment: segment.number }, 'removing an unfinished journal segment failed');
    }
  }

  #fail(error: unknown): void {
    if (this.#failure === undefined) this.#options.logger.error({ err: error }, 'journal became unwritable');
    this.#failure = `the journal cannot be written: ${error instanceof Error ? error.message : String(error)}`;
    clearTimeout(this.#healTimer);
    this.#healTimer = setTimeout(() => void this.#heal(), this.#options.retryIntervalMs).unref();
  }

  async #heal(): Promise<void> {
    if (this.#closed) return;
    try {
      await this.#probe();
    } catch (error) {
      this.#fail(error);
      return;
    }
    if (this.#closed || !this.#replaceSegment(new Error('replaced to retry'))) return;
    this.#failure = undefined;
    this.#options.logger.warn({ segment: this.#current?.number }, 'journal became writable again');
    this.#scheduleSync();
    this.#options.onHealed();
  }

  /** Checks whether the disk keeps a byte, in a separate file: each attempt with a segment would leave a file. */
  async #probe(): Promise<void> {
    const { disk, directory } = this.#options;
    const path = join(directory, 'probe');
    // A process that was killed during a probe leaves its file.
    if (disk.list(directory).includes('probe')) disk.remove(path);
    const handle = disk.create(path, 0);
    try {
      disk.write(handle, Buffer.from('?'), 0, 1);
      await disk.sync(handle);
    } finally {
      disk.close(handle, 1);
      disk.remove(path);
    }
  }

  #scheduleSync(): void {
    if (!this.#closed) this.#syncTimer.schedule();
  }

  /** Runs one sync at a time; later callers wait for it. Never rejects: a failure replaces the segment. */
  #sync(): Promise<void> {
    this.#syncing ??= this.#syncChunks().finally(() => {
      this.#syncing = undefined;
      this.#closeLeaving();
      if (this.#chunks.length > 0 && this.#failure === undefined) this.#scheduleSync();
    });
    return this.#syncing;
  }

  async #syncChunks(): Promise<void> {
    this.#tryWriteOut();
    this.#syncTimer.began();
    const syncing = this.#chunks.map((chunk) => ({ chunk, segment: chunk.segment }));
    for (const { chunk } of syncing) chunk.sealed = true;
    try {
      for (const segment of new Set(syncing.map((item) => item.segment))) {
        await this.#options.disk.sync(segment.handle);
        if (segment.named) continue;
        await this.#options.disk.syncDirectory(this.#options.directory);
        segment.named = true;
      }
    } catch (error) {
      // A write may have failed in the meantime and replaced the segment already; then this failure does not matter.
      this.#syncTimer.failed();
      const isCurrent = syncing.some(({ chunk, segment }) => chunk.segment === segment);
      if (isCurrent && this.#failure === undefined) this.#abandonUnsynced(error);
      return;
    }
    this.#syncFailed = false;
    const synced = new Set(syncing.filter(({ chunk, segment }) => chunk.segment === segment).map(({ chunk }) => chunk));
    this.#chunks = this.#chunks.filter((chunk) => !synced.has(chunk));
    for (const { bytes } of synced) if (bytes.length === chunkBytes && this.#spare.length < 4) this.#spare.push(bytes);
  }

  /**
   * The first failed sync moves everything to a new segment; a second consecutive one makes the journal unavailable.
   */
  #abandonUnsynced(error: unknown): void {
    if (this.#syncFailed) this.#fail(error);
    else this.#replaceSegment(error);
    this.#syncFailed = true;
  }

  /** Closes the handles of complete segments. Never during a sync, which may use one of them. */
  #closeLeaving(): void {
    if (this.#syncing !== undefined) return;
    for (const segment of this.#leaving) {
      if (this.#chunks.some((chunk) => chunk.segment === segment) && !this.#closed) continue;
      this.#leaving.delete(segment);
      try {
        this.#options.disk.close(segment.handle, segment.bytes);
      } catch (error) {
        this.#options.logger.warn({ err: error, segment: segment.number }, 'closing a journal segment failed');
      }
    }
  }
}
