import type { Logger } from '../../platform/log.ts';
import { createRingQueue } from '../../platform/ring-queue.ts';
import type { LedgerForm } from '../ledger/ledger-form.ts';
import type { LedgerStore } from '../ledger/ledger-store.ts';
import { createEntryMemory } from './entry-memory.ts';
import type { RecordPosition } from './segment-writer.ts';

/** An entry that waits for the store. */
export type PendingEntry = {
  readonly callId: string;
  /**
   * In the form of encodeForLedger, in memory of the shipper. Absent if only the journal has it, because too many wait.
   */
  entry?: Buffer | undefined;
  /** The position in the journal; absent if the journal could not be written. */
  position: RecordPosition | undefined;
  /** The segment that must stay until the entry is in the store: that of the call's first record. */
  readonly segment: number | undefined;
  readFailures?: number;
  /** Its slot in the memory, while it has one. */
  place?: number | undefined;
};

/** With at most this many entries in an interval there are few batches, so they need not be full. */
const fewEntries = 4;
/** A read error may be temporary; after this many attempts the record counts as lost. */
const readAttemptsMax = 5;

export type ShipperOptions = {
  readonly store: Pick<LedgerStore, 'appendEncoded'>;
  readonly logger: Pick<Logger, 'warn' | 'error'>;
  readonly shipIntervalMs: number;
  /** While entries keep arriving, the shipper waits this many intervals for a fuller batch. Default 1. */
  readonly shipIntervalsMax?: number;
  readonly batchEntriesMax: number;
  readonly entriesInMemoryMax: number;
  readonly storeTimeoutMs: number;
  /** Pauses between attempts double from the first to the last. */
  readonly backoffMs: { readonly first: number; readonly last: number };
  /** Reads an entry from the journal. Throws if the record cannot be read. */
  readonly readEntry: (position: RecordPosition) => Buffer;
  /** The entries are durably in the store. */
  readonly onShipped: (items: readonly PendingEntry[]) => void;
  /** The only copy was in the journal and cannot be read: the entry is dropped. */
  readonly onUnreadable: (item: PendingEntry) => void;
};

/**
 * Moves finished entries to the store, in batches, with retries until they are there. Shipping an entry twice is
 * harmless.
 */
export class Shipper {
  readonly #options: ShipperOptions;
  readonly #pending = createRingQueue<PendingEntry>();
  readonly #drains = new Set<{ readonly waitFor: Set<PendingEntry>; readonly resolve: () => void }>();
  readonly #stop = new AbortController();
  readonly #memory = createEntryMemory();
  #inMemory = 0;
  #batchEntries: number;
  #failures = 0;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;

  constructor(options: ShipperOptions) {
    this.#options = options;
    this.#batchEntries = options.batchEntriesMax;
  }

  get size(): number {
    return this.#pending.size();
  }

  /** Entries that are pending, oldest first. */
  pending(): Iterable<PendingEntry> {
    return this.#pending.values();
  }

  /**
   * The pending entries whose id matches, in the form of encodeForLedger. An entry that cannot be read at the moment is
   * omitted.
   */
  find(matches: (rowId: string) => boolean): Buffer[] {
    const found: Buffer[] = [];
    for (const item of this.#pending.values()) {
      if (!matches(item.callId)) continue;
      // A copy, because the memory of a shipped entry is reused.
      if (item.entry !== undefined) found.push(Buffer.from(item.entry));
      else if (item.position !== undefined) found.push(...this.#readIfThere(item.position));
    }
    return found;
  }

  #readIfThere(position: RecordPosition): Buffer[] {
    try {
      return [this.#options.readEntry(position)];
    } catch {
      // Shipping retries the read, and reports an entry that is lost.
      return [];
    }
  }

  /** @param form absent for an entry that only the journal has */
  add(item: PendingEntry, form?: LedgerForm): void {
    const isLeftToJournal = item.position !== undefined && this.#inMemory >= this.#options.entriesInMemoryMax;
    if (form !== undefined && !isLeftToJournal) this.#keep(item, form);
    item.place = this.#pending.add(item);
    this.#schedule();
  }

  /** The journal no longer has the entry: stores its only copy in memory again, whether or not memory still has it. */
  restore(item: PendingEntry, form: LedgerForm): void {
    item.position = undefined;
    if (item.entry === undefined && item.place !== undefined) this.#keep(item, form);
  }

  #keep(item: PendingEntry, form: LedgerForm): void {
    item.entry = this.#memory.keep(...form);
    this.#inMemory += 1;
  }

  /** Resolves when everything pending now is in the store. Rejects with the signal's reason. */
  async drain(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#pending.size() === 0) return;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter = { waitFor: new Set(this.#pending.values()), resolve };
    const abort = (): void => reject(signal.reason as Error);
    this.#drains.add(waiter);
    signal.addEventListener('abort', abort, { once: true });
    this.#runNow();
    try {
      await promise;
    } finally {
      this.#drains.delete(waiter);
      signal.removeEventListener('abort', abort);
    }
  }

  /** Stops after the running attempt. Pending entries stay in the journal. */
  async stop(): Promise<void> {
    this.#stop.abort();
    clearTimeout(this.#timer);
    await this.#running;
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#running !== undefined || this.#stop.signal.aborted) return;
    this.#wait(1);
  }

  /** Waits for an interval, and ships after it or waits for one more. */
  #wait(intervals: number): void {
    const { shipIntervalMs, shipIntervalsMax = 1 } = this.#options;
    this.#timer = setTimeout(() => {
      const size = this.#pending.size();
      const isFilling = size > fewEntries && size < this.#batchEntries;
      if (isFilling && intervals < shipIntervalsMax) this.#wait(intervals + 1);
      else this.#runNow();
    }, shipIntervalMs);
  }

  #runNow(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#stop.signal.aborted) return;
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
      if (this.#pending.size() > 0) this.#schedule();
    });
  }

  /** Ships until less than a batch remains; while the store fails, with retries until it succeeds. */
  async #run(): Promise<void> {
    while (this.#pending.size() > 0 && !this.#stop.signal.aborted) {
      const items = [...this.#pending.values().take(this.#batchEntries)];
      const loaded = this.#load(items);
      if (loaded.length === 0) {
        await this.#pause(this.#options.backoffMs.first);
        continue;
      }
      try {
        await withTimeout(this.#options.store.appendEncoded(loaded.map(({ entry }) => entry)), this.#options.storeTimeoutMs);
      } catch (error) {
        await this.#retreat(items, error);
        continue;
      }
      this.#succeed(loaded.map(({ item }) => item));
      if (this.#pending.size() < this.#batchEntries && this.#drains.size === 0) return;
    }
  }

  #load(items: readonly PendingEntry[]): { item: PendingEntry; entry: Buffer }[] {
    return items.flatMap((item) => {
      if (item.entry !== undefined) return [{ item, entry: item.entry }];
      try {
        if (item.position === undefined) throw new Error('The entry is neither in memory nor in the journal.');
        return [{ item, entry: this.#options.readEntry(item.position) }];
      } catch (error) {
        this.#requeue(item, error);
        return [];
      }
    });
  }

  #requeue(item: PendingEntry, error: unknown): void {
    item.readFailures = (item.readFailures ?? 0) + 1;
    if (item.readFailures < readAttemptsMax) return this.#putLast(item);
    this.#options.logger.error({ err: error, callId: item.callId }, 'journal entry could not be read back');
    this.#forget(item);
    this.#options.onUnreadable(item);
  }

  #putLast(item: PendingEntry): void {
    if (item.place !== undefined) this.#pending.remove(item.place);
    item.place = this.#pending.add(item);
  }

  #succeed(items: readonly PendingEntry[]): void {
    if (this.#failures > 0)
      this.#options.logger.warn({ failures: this.#failures, pending: this.#pending.size() }, 'journal shipping recovered');
    this.#failures = 0;
    this.#batchEntries = Math.min(this.#batchEntries * 2, this.#options.batchEntriesMax);
    for (const item of items) this.#forget(item);
    this.#options.onShipped(items);
  }

  /** Halves the batch, so that an entry that the store cannot accept is found, and moves that one behind the others. */
  async #retreat(items: readonly PendingEntry[], error: unknown): Promise<void> {
    this.#failures += 1;
    const fields = { err: error, failures: this.#failures, entries: items.length, pending: this.#pending.size() };
    // Logged at doubling numbers of failures: an outage of an hour is a dozen lines.
    if ((this.#failures & (this.#failures - 1)) === 0) this.#options.logger.warn(fields, 'journal shipping failed');
    const [first] = items;
    if (items.length === 1 && first !== undefined) this.#putLast(first);
    this.#batchEntries = Math.max(1, Math.floor(this.#batchEntries / 2));
    const { first: firstMs, last: lastMs } = this.#options.backoffMs;
    await this.#pause(Math.min(lastMs, firstMs * 2 ** Math.min(this.#failures - 1, 16)));
  }

  async #pause(waitMs: number): Promise<void> {
    const { signal } = this.#stop;
    if (signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, waitMs);
    // The pause ends early only when the journal closes, which the loop checks.
    const end = (): void => resolve();
    signal.addEventListener('abort', end, { once: true });
    await promise;
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
  }

  #forget(item: PendingEntry): void {
    if (item.place !== undefined) this.#pending.remove(item.place);
    item.place = undefined;
    if (item.entry !== undefined) {
      this.#inMemory -= 1;
      this.#memory.release(item.entry);
    }
    item.entry = undefined;
    for (const drain of this.#drains) {
      drain.waitFor.delete(item);
      if (drain.waitFor.size === 0) drain.resolve();
    }
  }
}

async function withTimeout<T>(promise: Promise<T>, timeoutMs: number): Promise<T> {
  const { promise: expired, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`The store did not answer within ${timeoutMs} ms.`)), timeoutMs);
  try {
    return await Promise.race([promise, expired]);
  } finally {
    clearTimeout(timer);
  }
}
