import type { IdempotencySettings } from './idempotency-settings.ts';

/** How many bytes of answers are kept for an API key. */
export type KeptBytes = { readonly keyId: string; readonly bytes: number };

/**
 * How much may still be kept of answers, by all API keys and by each. It counts what this process keeps, on top of what was in the store when it was looked at last: what other processes keep in
 * between, and what expires, is seen at the next look.
 */
export class ReplyRoom {
  readonly #settings: () => Pick<IdempotencySettings, 'totalBytesMax' | 'apiKeyBytesMax'>;
  readonly #byKey = new Map<string, number>();
  #total = 0;

  constructor(settings: () => Pick<IdempotencySettings, 'totalBytesMax' | 'apiKeyBytesMax'>) {
    this.#settings = settings;
  }

  /** Takes room for a part of an answer. False where there is none: then nothing is taken. */
  take(keyId: string, bytes: number): boolean {
    const { totalBytesMax, apiKeyBytesMax } = this.#settings();
    const own = (this.#byKey.get(keyId) ?? 0) + bytes;
    if (own > apiKeyBytesMax || this.#total + bytes > totalBytesMax) return false;
    this.#byKey.set(keyId, own);
    this.#total += bytes;
    return true;
  }

  /** Gives room back: what was taken for an answer that is not kept after all. */
  giveBack(keyId: string, bytes: number): void {
    const own = this.#byKey.get(keyId);
    // What was not in the store yet when that was looked at is not counted any more.
    const back = Math.min(bytes, own ?? 0);
    this.#byKey.set(keyId, (own ?? 0) - back);
    this.#total -= back;
  }

  /** Learns what there is in the store. */
  learn(kept: readonly KeptBytes[]): void {
    this.#byKey.clear();
    this.#total = 0;
    for (const { keyId, bytes } of kept) {
      this.#byKey.set(keyId, bytes);
      this.#total += bytes;
    }
  }
}
