import type { IdempotencyStore, KeyName, ReplyChunk } from './idempotency-store.ts';
import type { ReplyBudget, BudgetShare } from './reply-budget.ts';
import type { ReplySeal } from './reply-seal.ts';

/** What is sealed and stored at a time. */
const chunkBytes = 256 * 1024;
/** Chunks that may wait for the store before whoever writes is asked to pause. */
const chunksWaitingMax = 4;

/** The head of an answer, as it is given again. */
export type ReplyHead = { readonly status: number; readonly headers: Readonly<Record<string, string>> };

export type RecorderParts = {
  readonly store: Pick<IdempotencyStore, 'addReplyChunks'>;
  readonly seal: Pick<ReplySeal, 'seal'>;
  readonly holder: KeyName & { readonly requestId: string };
  /** The most bytes of a body that are kept. */
  readonly bytesMax: number;
  /** What may be kept altogether. */
  readonly budget: Pick<ReplyBudget, 'open'>;
};

/** Takes in the body of an answer while it is sent, and stores it chunk by chunk, so that a long one never lies in memory whole. */
export class ReplyRecorder {
  readonly #parts: RecorderParts;
  readonly #share: BudgetShare;
  #held: Buffer[] = [];
  #heldBytes = 0;
  #sequence = 0;
  #waiting = 0;
  #writing: Promise<void> = Promise.resolve();
  #failure: unknown;
  /** Whether more than the bound has come: then nothing of it is kept. */
  #isTooLarge = false;

  constructor(parts: RecorderParts) {
    this.#parts = parts;
    this.#share = parts.budget.open(parts.holder.keyId);
  }

  /** Adds to the end of the body. False when the store does not keep up: `whenRoom` tells when to go on. */
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

  /** Nothing of it is kept: its room is free for others. */
  forget(): void {
    this.#share.release();
    this.#isTooLarge = true;
    this.#held = [];
    this.#heldBytes = 0;
  }

  /** How it ended is with the store, or never will be. */
  close(): void {
    this.#share.close();
  }

  /** Resolves when the store has taken what was waiting, or has refused it. */
  async whenRoom(): Promise<void> {
    await this.#writing;
  }

  /**
   * Waits for what is on its way to the store, and returns what is left, sealed. Undefined when the answer is not whole there: it was too large, or the store did not
   * reserve a part of it.
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
    const taken: ReplyChunk[] = [];
    for (let at = 0; at < bytes.length; at += chunkBytes) {
      const sequence = this.#sequence++;
      taken.push({ sequence, sealed: seal.seal({ ...holder, part: sequence }, bytes.subarray(at, at + chunkBytes)) });
    }
    return taken;
  }

  #store(chunks: readonly ReplyChunk[]): void {
    this.#waiting += chunks.length;
    const write = async (): Promise<void> => {
      try {
        // After a part that is missing nothing else is of use.
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
