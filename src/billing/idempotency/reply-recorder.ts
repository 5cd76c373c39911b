import type { IdempotencyStore, KeyName, ReplyChunk } from './idempotency-store.ts';
import type { ReplyBudget, BudgetShare } from './reply-budget.ts';
import type { ReplySeal } from './reply-seal.ts';

/** The bytes that are sealed and stored at a time. */
const chunkBytes = 256 * 1024;
/** The most chunks that wait for the store before the writer must pause. */
const chunksWaitingMax = 4;

/** Status and headers of an answer. */
export type ReplyHead = { readonly status: number; readonly headers: Readonly<Record<string, string>> };

export type RecorderParts = {
  readonly store: Pick<IdempotencyStore, 'addReplyChunks'>;
  readonly seal: Pick<ReplySeal, 'seal'>;
  readonly holder: KeyName & { readonly requestId: string };
  /** The most bytes of a stored body. */
  readonly bytesMax: number;
  /** The budget for all answers. */
  readonly budget: Pick<ReplyBudget, 'open'>;
};

/**
 * Receives the body of an answer while it is sent, and stores it chunk by chunk, so that a long one is never completely
 * in memory.
 */
export class ReplyRecorder {
  readonly #parts: RecorderParts;
  readonly #share: BudgetShare;
  #held: Buffer[] = [];
  #heldBytes = 0;
  #sequence = 0;
  #waiting = 0;
  #writing: Promise<void> = Promise.resolve();
  #failure: unknown;
  /** Whether the body exceeds its limit: then it is not stored. */
  #isTooLarge = false;

  constructor(parts: RecorderParts) {
    this.#parts = parts;
    this.#share = parts.budget.open(parts.holder.keyId);
  }

  /** Adds to the end of the body. False if the store is too slow: wait for `whenRoom` before the next piece. */
  add(bytes: Uint8Array): boolean {
    if (this.#isTooLarge) return true;
    if (this.#share.bytes + bytes.length > this.#parts.bytesMax || !this.#share.reserve(bytes.length)) {
      this.forget();
      return true;
    }
    this.#held.push(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
    this.#heldBytes += bytes.length;
    if (this.#heldBytes >= chunkBytes) this.#store(this.#takeChunks());
    return this.#waiting < chunksWaitingMax;
  }

  /** Drops the body and releases its budget. */
  forget(): void {
    this.#share.release();
    this.#isTooLarge = true;
    this.#held = [];
    this.#heldBytes = 0;
  }

  /** The end is stored, or never will be. */
  close(): void {
    this.#share.close();
  }

  /** Resolves when the store has accepted or refused the waiting chunks. */
  async whenRoom(): Promise<void> {
    await this.#writing;
  }

  /**
   * Waits for the running writes, and returns the sealed rest. Undefined if the answer is not complete in the store: it
   * was too large, or the store refused a part of it.
   */
  async finish(
    head: ReplyHead,
  ): Promise<{ readonly kept: { head: Uint8Array<ArrayBuffer>; chunks: number }; last: ReplyChunk[] } | undefined> {
    const last = this.#isTooLarge ? [] : this.#takeChunks();
    await this.#writing;
    if (this.#isTooLarge || this.#failure !== undefined) {
      this.forget();
      return undefined;
    }
    const { seal, holder } = this.#parts;
    const sealed = seal.seal({ ...holder, part: 'head' }, Buffer.from(JSON.stringify(head)));
    return { kept: { head: sealed, chunks: this.#sequence }, last };
  }

  #takeChunks(): ReplyChunk[] {
    const { seal, holder } = this.#parts;
    const bytes = Buffer.concat(this.#held);
    this.#held = [];
    this.#heldBytes = 0;
    const sealedChunks: ReplyChunk[] = [];
    for (let at = 0; at < bytes.length; at += chunkBytes) {
      const sequence = this.#sequence++;
      sealedChunks.push({ sequence, sealed: seal.seal({ ...holder, part: sequence }, bytes.subarray(at, at + chunkBytes)) });
    }
    return sealedChunks;
  }

  #store(chunks: readonly ReplyChunk[]): void {
    this.#waiting += chunks.length;
    const write = async (): Promise<void> => {
      try {
        // After a missing part, further ones are useless.
        if (this.#failure === undefined && !this.#isTooLarge) await this.#parts.store.addReplyChunks(this.#parts.holder, chunks);
      } catch (error) {
        this.#failure = error;
      } finally {
        this.#waiting -= chunks.length;
      }
    };
    this.#writing = this.#writing.then(write);
  }
}
