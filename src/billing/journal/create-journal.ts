import { join } from 'node:path';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/log.ts';
import { createSlotTable } from '../../platform/slot-table.ts';
import type { CallEntry, CallOpening } from '../ledger/call-entry.ts';
import type { LedgerStore } from '../ledger/ledger-store.ts';
import { decodeEntry, encodeInPieces, encodeOpening } from '../ledger/entry-json.ts';
import { decodeForLedger, encodeForLedger, readLedgerText, toLedgerBytes } from '../ledger/ledger-form.ts';
import { type JournalDisk, nodeJournalDisk } from './journal-disk.ts';
import { defaultLimits, type JournalLimits } from './journal-limits.ts';
import { decodeRecord, recordBytesBound, recordPayloadBytesMax, recordTypes } from './journal-record.ts';
import { type Journal, JournalUnavailableError, type JournalView } from './journal.ts';
import { attemptAfter, type RecoveredCounts, recoverSegments } from './recover-segments.ts';
import { readSegmentNumbers, segmentName } from './segment-name.ts';
import { type RecordPosition, SegmentWriter, type StagedCallback } from './segment-writer.ts';
import type { LostCallSettler } from './settle-lost-call.ts';
import { type PendingEntry, Shipper } from './shipper.ts';

export type JournalOptions = {
  /** One directory per process, on a disk that survives the process. */
  readonly directory: string;
  readonly store: Pick<LedgerStore, 'appendEncoded'>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly logger: Pick<Logger, 'warn' | 'error'>;
  readonly settleLost: LostCallSettler;
  readonly disk?: JournalDisk;
  /** A power loss may lose the records of this time; a killed process loses none. */
  readonly syncIntervalMs?: number;
  /** A power loss may lose the progress of this time: the output since then of streams that run at that moment. */
  readonly progressSyncIntervalMs?: number;
  readonly shipIntervalMs?: number;
  readonly segmentBytesMax?: number;
  readonly limits?: Partial<JournalLimits>;
};

type OpenCall = {
  /** The text of encodeOpening. */
  opening: string;
  /** The number of the attempt if it is not the first. Records of a later attempt void those of an earlier one. */
  attempt: number | undefined;
  readonly openedAtMs: number;
  /** The segment of its first record, which must stay until the call is in the store. */
  readonly segment: number;
  /** A HEAD that is not written yet: its tick has not ended, or the disk refused it. */
  head?: { readonly status: number; readonly upstreamRequestId: string | undefined; readonly elapsedMs: number };
};

/**
 * Opens the journal in a directory: recovers the segments of the last process, settles the calls that it died in, and
 * ships their entries. Throws an Error that names the directory if it cannot be used: not writable, in use by another
 * process, or with segments that cannot be read.
 */
export async function createJournal(options: JournalOptions): Promise<{ journal: Journal & JournalView; recovered: RecoveredCounts }> {
  const { directory, disk = nodeJournalDisk } = options;
  let release: (() => void) | undefined;
  try {
    disk.prepare(directory);
    release = disk.lock(directory);
    const journal = new FileJournal(options, disk, release);
    const recovered = await journal.start();
    return { journal, recovered };
  } catch (cause) {
    release?.();
    throw new Error(`The journal directory ${directory} cannot be used: ${messageOf(cause)}`, { cause });
  }
}

class FileJournal implements Journal, JournalView {
  readonly #options: JournalOptions;
  readonly #limits: JournalLimits;
  readonly #disk: JournalDisk;
  readonly #release: () => void;
  readonly #writer: SegmentWriter;
  readonly #shipper: Shipper;
  readonly #numbers: readonly number[];
  readonly #calls = createSlotTable<OpenCall>();
  /** Calls that were answered in this tick. */
  #answered: string[] = [];
  /** The number of calls by the segment of their first record, for calls that are not in the store yet. */
  readonly #holds = new Map<number, number>();
  /** Segments with an entry that could not be read back: they are set aside and not deleted. */
  readonly #damaged = new Set<number>();
  #oldest: number;
  #closing: Promise<void> | undefined;

  constructor(options: JournalOptions, disk: JournalDisk, release: () => void) {
    const { directory, store, logger } = options;
    this.#options = options;
    this.#disk = disk;
    this.#release = release;
    this.#limits = { ...defaultLimits, ...options.limits };
    this.#numbers = readSegmentNumbers(disk.list(directory));
    const firstSegment = (this.#numbers.at(-1) ?? 0) + 1;
    this.#oldest = this.#numbers[0] ?? firstSegment;
    this.#writer = new SegmentWriter({
      disk,
      directory,
      logger,
      firstSegment,
      segmentBytesMax: options.segmentBytesMax ?? 16 * 1024 * 1024,
      syncIntervalMs: options.syncIntervalMs ?? 5,
      progressSyncIntervalMs: options.progressSyncIntervalMs ?? 200,
      retryIntervalMs: this.#limits.retryIntervalMs,
      unsyncedBytesMax: this.#limits.unsyncedBytesMax,
      onMoved: (from, to) => this.#follow(from, to),
      onHealed: () => this.#writeRefused(),
    });
    this.#shipper = new Shipper({
      ...this.#limits,
      store,
      logger,
      shipIntervalMs: options.shipIntervalMs ?? 50,
      shipIntervalsMax: 4,
      readEntry: (position) => this.#readEntry(position),
      onShipped: (items) => this.#releaseSegments(items.map(({ segment }) => segment)),
      onUnreadable: ({ position, segment }) => {
        if (position !== undefined) this.#damaged.add(position.segment);
        this.#releaseSegments([segment]);
      },
    });
  }

  async start(): Promise<RecoveredCounts> {
    this.#writer.start();
    try {
      const { directory, logger, settleLost } = this.#options;
      const recovery = await recoverSegments({
        disk: this.#disk,
        directory,
        logger,
        settleLost,
        writer: this.#writer,
        numbers: this.#numbers,
      });
      for (const { callId, position } of recovery.calls) {
        this.#hold(position.segment);
        this.#shipper.add({ callId, position, segment: position.segment });
      }
      this.#releaseSegments([]);
      return recovery.counts;
    } catch (error) {
      // The first error explains the failure; an error of closing would only hide it.
      await this.#writer.close().catch(() => {});
      throw error;
    }
  }

  open(opening: CallOpening, then?: (refusal: JournalUnavailableError | undefined) => void): void {
    const reason = this.unavailableReason();
    if (reason !== undefined) throw new JournalUnavailableError(reason);
    const json = encodeOpening(opening);
    if (then === undefined) {
      this.#begin(opening, json, this.#writer.append(recordTypes.open, json));
      return;
    }
    const position = this.#writer.stage(recordTypes.open, [json], (refusal) => {
      if (refusal !== undefined) undo();
      then(refusal);
    });
    const undo = this.#begin(opening, json, position);
  }

  /** Returns a function that undoes the opening if it was not written. */
  #begin({ callId, failedAttempts }: CallOpening, opening: string, position: RecordPosition): () => void {
    const attempt = failedAttempts === undefined ? undefined : attemptAfter(failedAttempts);
    const openCall = this.#calls.get(callId);
    if (openCall === undefined) {
      this.#hold(position.segment);
      this.#calls.set(callId, { opening, attempt, openedAtMs: this.#options.clock.monotonicMs(), segment: position.segment });
      return () => this.#forget(callId);
    }
    const former = { ...openCall };
    openCall.opening = opening;
    openCall.attempt = attempt;
    delete openCall.head;
    return () => void Object.assign(openCall, former);
  }

  /**
   * Removes a call whose opening was not written, unless it has ended in the meantime: then its entry has replaced it.
   */
  #forget(callId: string): void {
    const call = this.#calls.take(callId);
    if (call !== undefined) this.#releaseSegments([call.segment]);
  }

  head(callId: string, head: { readonly status: number; readonly upstreamRequestId?: string }): void {
    const call = this.#calls.get(callId);
    // Records of a finished call would outlive its segments and mean nothing to a recovery.
    if (call === undefined) return;
    call.head = { status: head.status, upstreamRequestId: head.upstreamRequestId, elapsedMs: this.#elapsedMs(call) };
    if (this.#answered.push(callId) === 1) queueMicrotask(() => this.#writeHeads());
  }

  /**
   * Writes the HEADs of this tick. A reply that arrived in one piece is finished by now, and its entry contains
   * everything of a HEAD, so its HEAD is not written.
   */
  #writeHeads(): void {
    for (const callId of this.#answered) {
      const call = this.#calls.get(callId);
      if (call?.head !== undefined) this.#writeHead(callId, call);
    }
    this.#answered = [];
  }

  /** A HEAD that the disk refuses stays with its call, and is written when the disk accepts records again. */
  #writeHead(callId: string, call: OpenCall): void {
    if (this.#tryAppend(recordTypes.head, JSON.stringify({ callId, attempt: call.attempt, ...call.head })) !== undefined) delete call.head;
  }

  progress(callId: string, progress: Parameters<Journal['progress']>[1]): void {
    const call = this.#calls.get(callId);
    if (call === undefined) return;
    if (call.head !== undefined) this.#writeHead(callId, call);
    // A refused record is dropped: the next one follows within milliseconds and contains more.
    this.#tryAppend(recordTypes.progress, JSON.stringify({ callId, attempt: call.attempt, ...progress, elapsedMs: this.#elapsedMs(call) }));
  }

  done(entry: CallEntry, then?: () => void): void {
    const call = this.#calls.take(entry.callId);
    const { json, isWritable } = this.#encode(entry, call?.opening);
    const form = encodeForLedger(entry, json);
    const onWritten: StagedCallback = (refusal) => {
      if (refusal !== undefined) this.#shipper.restore(item, form);
      then?.();
    };
    const position = isWritable ? this.#tryWrite(json, then === undefined ? undefined : onWritten) : undefined;
    const segment = call?.segment ?? position?.segment;
    if (call === undefined && segment !== undefined) this.#hold(segment);
    if (this.#closing !== undefined) this.#options.logger.error({ callId: entry.callId }, 'call ended after the journal was closed');
    const item: PendingEntry = { callId: entry.callId, position, segment };
    this.#shipper.add(item, form);
    if (position === undefined) then?.();
  }

  /** Writes a final entry now, or with the others of this turn. Undefined if the disk refuses it at once. */
  #tryWrite(json: readonly string[], then: StagedCallback | undefined): RecordPosition | undefined {
    return this.#attempt(() =>
      then === undefined ? this.#writer.append(recordTypes.done, ...json) : this.#writer.stage(recordTypes.done, json, then),
    );
  }

  pendingEntries(): number {
    return this.#shipper.size;
  }

  findOpen(rowId: string): CallOpening | undefined {
    const call = this.#calls.get(rowId);
    return call === undefined ? undefined : (JSON.parse(call.opening) as CallOpening);
  }

  pendingRows(callId: string): readonly CallEntry[] {
    return this.#shipper.find((rowId) => rowId === callId || rowId.startsWith(`${callId}.`)).map(decodeForLedger);
  }

  unavailableReason(): string | undefined {
    if (this.#closing !== undefined) return 'the journal is closed';
    if (this.#shipper.size >= this.#limits.entriesPendingMax) return `${this.#shipper.size} entries wait for the ledger store`;
    return this.#writer.unavailableReason();
  }

  drain(signal: AbortSignal): Promise<void> {
    return this.#shipper.drain(signal);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#shipper.stop();
    const { promise: expired, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => reject(new Error('the disk did not finish within the time limit')), this.#limits.closeTimeoutMs);
    try {
      await Promise.race([this.#writer.close(), expired]);
    } catch (error) {
      this.#options.logger.error({ err: error }, 'journal close failed');
    } finally {
      clearTimeout(timer);
      this.#release();
    }
  }

  #elapsedMs(call: OpenCall): number {
    return Math.max(0, Math.round(this.#options.clock.monotonicMs() - call.openedAtMs));
  }

  #tryAppend(type: (typeof recordTypes)[keyof typeof recordTypes], json: string): RecordPosition | undefined {
    return this.#attempt(() => this.#writer.append(type, json));
  }

  #attempt(write: () => RecordPosition): RecordPosition | undefined {
    try {
      return write();
    } catch (error) {
      // The writer has logged the refusal and reports it to open() too. The callers keep in memory what must not be
      // lost.
      if (!(error instanceof JournalUnavailableError)) this.#options.logger.error({ err: error }, 'journal record encoding failed');
      return undefined;
    }
  }

  /** The text of the entry. Raw usage that cannot be encoded, or is far too large, is omitted. */
  #encode(entry: CallEntry, opening: string | undefined): { readonly json: readonly string[]; readonly isWritable: boolean } {
    try {
      const json = encodeInPieces(entry, opening);
      if (isWritable(json)) return { json, isWritable: true };
    } catch (error) {
      this.#options.logger.error({ err: error, callId: entry.callId }, 'journal entry encoding failed');
    }
    const json = encodeInPieces(withoutRawUsage(entry));
    if (isWritable(json)) return { json, isWritable: true };
    this.#options.logger.error({ callId: entry.callId }, 'journal entry too long for a record');
    return { json, isWritable: false };
  }

  #readEntry({ segment, offset, length }: RecordPosition): Buffer {
    const bytes = this.#disk.readAt(join(this.#options.directory, segmentName(segment)), offset, length);
    const record = decodeRecord(bytes, 0);
    if (record?.type !== recordTypes.done) throw new Error(`There is no complete DONE record at ${offset} of ${segmentName(segment)}.`);
    const entry = decodeEntry(record.value);
    return toLedgerBytes(encodeForLedger(entry, encodeInPieces(entry)));
  }

  #follow(from: { readonly segment: number; readonly start: number; readonly end: number }, to: { segment: number; start: number }): void {
    for (const { position } of this.#shipper.pending()) {
      if (position === undefined || position.segment !== from.segment || position.offset < from.start || position.offset >= from.end)
        continue;
      position.offset += to.start - from.start;
      position.segment = to.segment;
    }
  }

  /** Writes the records that the disk had refused, so that a later crash loses none of them. */
  #writeRefused(): void {
    this.#calls.forEach((call, callId) => {
      if (call.head !== undefined) this.#writeHead(callId, call);
    });
    for (const item of this.#shipper.pending()) {
      if (item.position !== undefined || item.entry === undefined) continue;
      const json = readLedgerText(item.entry);
      if (Buffer.byteLength(json) <= recordPayloadBytesMax) item.position = this.#tryAppend(recordTypes.done, json);
    }
  }

  #hold(segment: number): void {
    this.#holds.set(segment, (this.#holds.get(segment) ?? 0) + 1);
  }

  /**
   * Deletes segments from the oldest up to the first that is still needed. Strictly in order: while a call's first
   * record exists all its later ones do, so that a recovery never settles a finished call as lost.
   */
  #releaseSegments(released: readonly (number | undefined)[]): void {
    for (const segment of released) {
      if (segment === undefined) continue;
      const holds = (this.#holds.get(segment) ?? 1) - 1;
      if (holds === 0) this.#holds.delete(segment);
      else this.#holds.set(segment, holds);
    }
    while (this.#oldest < this.#writer.currentSegment && !this.#holds.has(this.#oldest)) {
      this.#remove(this.#oldest);
      this.#oldest += 1;
    }
  }

  #remove(segment: number): void {
    const path = join(this.#options.directory, segmentName(segment));
    try {
      if (this.#damaged.delete(segment)) this.#disk.rename(path, `${path}.corrupt`);
      else this.#disk.remove(path);
    } catch (error) {
      // Numbers have gaps if a segment was set aside or never completed.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
      this.#options.logger.warn({ err: error, segment }, 'journal segment deletion failed');
    }
  }
}

/** Whether a record can have this payload. */
function isWritable(json: readonly string[]): boolean {
  if (recordBytesBound(...json) <= recordPayloadBytesMax) return true;
  return json.reduce((bytes, piece) => bytes + Buffer.byteLength(piece), 0) <= recordPayloadBytesMax;
}

function withoutRawUsage(entry: CallEntry): CallEntry {
  const { rawUsage: _, ...rest } = entry;
  return rest;
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
