import { createHash } from 'node:crypto';

import { untilAborted } from '../../platform/until-aborted.ts';
import { MediaStorageError } from '../../tasks/media/media-storage.ts';

export type MeasuredSource = {
  /**
   * The non-empty pieces of the source. A piece is valid until the next one is requested. Rejects with
   * MediaStorageError, the reason of the signal, or the error of the source.
   */
  readonly pieces: AsyncIterable<Uint8Array>;
  /** The number of bytes and their hash. Called once, at the end. */
  readonly finish: () => { readonly bytes: number; readonly sha256: string };
};

/**
 * Counts and hashes the pieces, and ends the iteration if they are too large or the signal aborts. The source is then
 * closed without being awaited, because it may hang.
 */
export function measureSource(
  source: AsyncIterable<Uint8Array>,
  { bytesMax, signal }: { readonly bytesMax: number; readonly signal: AbortSignal },
): MeasuredSource {
  const hash = createHash('sha256');
  let bytes = 0;
  async function* measure(): AsyncGenerator<Uint8Array, void> {
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
      if (!ended) close(iterator);
    }
  }
  return { pieces: measure(), finish: () => ({ bytes, sha256: hash.digest('hex') }) };
}

function close(iterator: AsyncIterator<Uint8Array>): void {
  // The error that ended the iteration is already reported; an error of the source adds nothing.
  iterator.return?.().catch(() => undefined);
}
