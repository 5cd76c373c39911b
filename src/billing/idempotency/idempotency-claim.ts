import type { IdempotencyStore } from './idempotency-store.ts';
import { type RecorderParts, type ReplyHead, ReplyRecorder } from './reply-recorder.ts';

/** A request that was let through: nobody else makes the same while it is held. It ends with exactly one of `keep`, `spend` and `release`. */
export type IdempotencyClaim = {
  /** Adds to the body of the answer. False when the store does not keep up: `whenRoom` tells when to go on. */
  readonly add: (bytes: Uint8Array) => boolean;
  readonly whenRoom: () => Promise<void>;
  /** The answer is whole: it is given to whoever repeats the request. */
  readonly keep: (head: ReplyHead) => Promise<void>;
  /** Something was done and there is no answer that could be given again. */
  readonly spend: () => Promise<void>;
  /** Nothing was done: the same key may be used again. */
  readonly release: () => Promise<void>;
};

type ClaimParts = Omit<RecorderParts, 'store'> & {
  readonly store: Pick<IdempotencyStore, 'addReplyChunks' | 'closeIdempotencyKey' | 'releaseIdempotencyKey'>;
  /** Tells that the key is not held by this process any more, or, with what has still to be written, that the store does not take it. */
  readonly onEnded: (unwritten?: () => Promise<unknown>) => void;
};

/** The claim of a key that the store has given to this process. */
export function createClaim(parts: ClaimParts): IdempotencyClaim {
  const { store, holder, onEnded } = parts;
  const recorder = new ReplyRecorder(parts);
  let isEnded = false;
  const end = async (work: () => Promise<unknown>, again: () => Promise<unknown>): Promise<void> => {
    if (isEnded) return;
    isEnded = true;
    try {
      await work();
      onEnded();
    } catch {
      onEnded(again);
    } finally {
      recorder.close();
    }
  };
  const spend = (): Promise<unknown> => store.closeIdempotencyKey({ ...holder, kept: undefined, last: [] });
  const release = (): Promise<unknown> => store.releaseIdempotencyKey(holder);
  return {
    add: (bytes) => recorder.add(bytes),
    whenRoom: () => recorder.whenRoom(),
    keep: (head) =>
      end(async () => {
        const finished = await recorder.finish(head);
        await (finished === undefined ? spend() : store.closeIdempotencyKey({ ...holder, ...finished }));
      }, spend),
    spend: () => {
      if (!isEnded) recorder.forget();
      return end(spend, spend);
    },
    release: () => {
      if (!isEnded) recorder.forget();
      return end(release, release);
    },
  };
}
