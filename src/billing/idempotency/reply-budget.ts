import type { IdempotencySettings } from './idempotency-settings.ts';

/** The bytes of stored answers of an API key. */
export type StoredReplyBytes = { readonly keyId: string; readonly bytes: number };

/** The budget of one answer that is being recorded. */
export type BudgetShare = {
  /** The reserved bytes. */
  readonly bytes: number;
  /** Reserves budget for a part of the answer. False, without a change, if there is not enough. */
  readonly reserve: (bytes: number) => boolean;
  /** Releases everything: the answer is not stored. */
  readonly release: () => void;
  /** Ends the recording: its stored parts are counted by the next refresh. */
  readonly close: () => void;
};

/**
 * The bytes that may still be stored for all API keys and for each. It counts the bytes of the last refresh and those
 * that this process has stored since then. Bytes of other processes, and expired answers, are seen at the next refresh.
 * A recording that runs during a refresh is counted in full, so its stored parts count twice until the next one: the
 * budget errs on the low side. The last part of a recording that ends during a refresh may be missing until the next
 * one.
 */
export class ReplyBudget {
  readonly #settings: () => Pick<IdempotencySettings, 'totalBytesMax' | 'apiKeyBytesMax'>;
  readonly #byKey = new Map<string, number>();
  readonly #recording = new Set<{ readonly keyId: string; bytes: number }>();
  #total = 0;

  constructor(settings: () => Pick<IdempotencySettings, 'totalBytesMax' | 'apiKeyBytesMax'>) {
    this.#settings = settings;
  }

  /** Begins to record an answer for an API key. */
  open(keyId: string): BudgetShare {
    const share = { keyId, bytes: 0 };
    this.#recording.add(share);
    return {
      get bytes() {
        return share.bytes;
      },
      reserve: (bytes) => {
        const { totalBytesMax, apiKeyBytesMax } = this.#settings();
        const own = (this.#byKey.get(keyId) ?? 0) + bytes;
        if (own > apiKeyBytesMax || this.#total + bytes > totalBytesMax) return false;
        share.bytes += bytes;
        this.#add(keyId, bytes);
        return true;
      },
      release: () => {
        this.#add(keyId, -share.bytes);
        share.bytes = 0;
      },
      close: () => {
        this.#recording.delete(share);
      },
    };
  }

  /** Replaces the counts by those of the store. */
  refresh(stored: readonly StoredReplyBytes[]): void {
    this.#byKey.clear();
    this.#total = 0;
    for (const { keyId, bytes } of stored) this.#add(keyId, bytes);
    for (const { keyId, bytes } of this.#recording) this.#add(keyId, bytes);
  }

  #add(keyId: string, bytes: number): void {
    this.#byKey.set(keyId, (this.#byKey.get(keyId) ?? 0) + bytes);
    this.#total += bytes;
  }
}
