import { createHash } from 'node:crypto';

import { untilAborted } from '../../platform/until-aborted.ts';
import { MediaStorageError } from '../../tasks/media/media-storage.ts';

export type MeasuredSource = {
  /** The source's pieces, empty ones left out. Each may be used until the next is asked for. Rejects with MediaStorageError, the signal's reason, or what the source throws. */
  readonly pieces: AsyncIterable<Uint8Array>;
  /** How much has passed and its hash. Once, at the end. */
  readonly finish: () => { readonly bytes: number; readonly sha256: string };
};

/** Counts and hashes what passes, and ends it when it is too much or the signal aborts. The source is told when it is left early, and is not waited for then: it may hang. */
export function measureSource(
  source: AsyncIterable<Uint8Array>,
  { bytesMax, signal }: { readonly bytesMax: number; readonly signal: AbortSignal },
): MeasuredSource {
  const hash = createHash('sha256');
  let bytes = 0;
  async function* take(): AsyncGenerator<Uint8Array, void> {
    const iterator = source[Symbol.asyncIterator]();
    let ended = false;
    try {
      for (;;) {
        signal.throwIfAborted();
        const step = await untilAborted(iterator.next(), signal).catch((error: unknown) => {
          ended = !signal.aborted;
          throw error;
        });
        if (step.done === true) {
          ended = true;
          return;
        }
        bytes += step.value.length;
        if (bytes > bytesMax) throw new MediaStorageError('too-large', `the file is larger than ${bytesMax} bytes`);
        if (step.value.length === 0) continue;
        hash.update(step.value);
        yield step.value;
      }
    } finally {
      if (!ended) leave(iterator);
    }
  }
  return { pieces: take(), finish: () => ({ bytes, sha256: hash.digest('hex') }) };
}

function leave(iterator: AsyncIterator<Uint8Array>): void {
  // Why the file is given up is being told already; what the source says to that adds nothing.
  iterator.return?.().catch(() => undefined);
}
