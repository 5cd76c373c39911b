import type { IdempotencySettings } from './idempotency-settings.ts';

/** How many bytes of answers are kept for an API key. */
export type StoredReplyBytes = { readonly keyId: string; readonly bytes: number };

/** What one answer that is being recorded takes. */
export type BudgetShare = {
  /** How much that is. */
  readonly bytes: number;
  /** Takes room for a part of the answer. False where there is none: then nothing is taken. */
  readonly reserve: (bytes: number) => boolean;
  /** Gives all of it back: the answer is not kept after all. */
  readonly release: () => void;
  /** The recording is over: what is kept of it is in the store, and counted when that is looked at. */
  readonly close: () => void;
};

/**
 * How much may still be kept of answers, by all API keys and by each. It counts what this process keeps, on top of what was in the store when it was looked at last: what other processes keep in
 * between, and what expires, is seen at the next look. What is still being recorded when a look ends is counted whole, with those of its parts that were in the store already twice until the next:
 * rather too little is kept than too much. Of a recording that ends during a look the last part may be missed until the next.
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

  /** Learns what there is in the store. */
  refresh(kept: readonly StoredReplyBytes[]): void {
    this.#byKey.clear();
    this.#total = 0;
    for (const { keyId, bytes } of kept) this.#add(keyId, bytes);
    for (const { keyId, bytes } of this.#recording) this.#add(keyId, bytes);
  }

  #add(keyId: string, bytes: number): void {
    this.#byKey.set(keyId, (this.#byKey.get(keyId) ?? 0) + bytes);
    this.#total += bytes;
  }
}
