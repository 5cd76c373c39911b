import { type RecordType, recordTypes } from './journal-record.ts';

export type SyncIntervals = {
  readonly syncIntervalMs: number;
  /** The same for the progress of running streams, if nothing else is written. */
  readonly progressSyncIntervalMs: number;
};

/** Starts the next sync: soon after most records, and later if all of them are progress. */
export class SyncTimer {
  readonly #intervals: SyncIntervals;
  readonly #sync: () => void;
  #timer: NodeJS.Timeout | undefined;
  /** The interval of the running timer. */
  #inMs = 0;
  /** Whether a record that must not wait for long has no sync yet. */
  #isUrgent = false;

  constructor(intervals: SyncIntervals, sync: () => void) {
    this.#intervals = intervals;
    this.#sync = sync;
  }

  /** A record of this type needs a sync. */
  add(type: RecordType): void {
    if (type !== recordTypes.progress) this.#isUrgent = true;
  }

  /** A sync of all records begins. */
  began(): void {
    this.#isUrgent = false;
  }

  /** The sync failed, and its records need another one. */
  failed(): void {
    this.#isUrgent = true;
  }

  schedule(): void {
    const { syncIntervalMs, progressSyncIntervalMs } = this.#intervals;
    const inMs = this.#isUrgent ? syncIntervalMs : progressSyncIntervalMs;
    if (this.#timer !== undefined && this.#inMs <= inMs) return;
    this.stop();
    this.#inMs = inMs;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#sync();
    }, inMs);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
