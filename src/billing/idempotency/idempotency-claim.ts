import type { IdempotencyStore } from './idempotency-store.ts';
import { type RecorderParts, type ReplyHead, ReplyRecorder } from './reply-recorder.ts';

/**
 * An admitted request. No other request with its key runs while the claim is held. It ends with exactly one of `keep`,
 * `spend` and `release`.
 */
export type IdempotencyClaim = {
  /** Adds to the body of the answer. False if the store is too slow: wait for `whenRoom` before the next piece. */
  readonly add: (bytes: Uint8Array) => boolean;
  readonly whenRoom: () => Promise<void>;
  /** The answer is complete: repeated requests get it. */
  readonly keep: (head: ReplyHead) => Promise<void>;
  /** The request had effects, and there is no answer that could be repeated. */
  readonly spend: () => Promise<void>;
  /** The request had no effect: the key may be used again. */
  readonly release: () => Promise<void>;
};

type ClaimParts = Omit<RecorderParts, 'store'> & {
  readonly store: Pick<IdempotencyStore, 'addReplyChunks' | 'closeIdempotencyKey' | 'releaseIdempotencyKey'>;
  /** Called when this process no longer holds the key; with `unwritten` if the store did not accept the last write. */
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
