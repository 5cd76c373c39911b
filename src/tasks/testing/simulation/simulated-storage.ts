import { type MediaStorage, MediaStorageError } from '../../media/media-storage.ts';

/** A storage that keeps only the length of each file. */
export class SimulatedStorage implements MediaStorage {
  readonly files = new Map<string, { readonly bytes: number; readonly atMs: number }>();
  readonly #nowMs: () => number;
  /** Whether its disk is full. */
  isFull = false;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  write: MediaStorage['write'] = async (key, source, { bytesMax }) => {
    let bytes = 0;
    for await (const piece of source) {
      if (this.isFull) throw new MediaStorageError('unavailable', 'no space left');
      bytes += piece.length;
      if (bytes > bytesMax) throw new MediaStorageError('too-large', 'too many bytes');
    }
    this.files.set(key, { bytes, atMs: this.#nowMs() });
    return { bytes, sha256: 'ab'.repeat(32) };
  };

  open: MediaStorage['open'] = async () => undefined;

  remove: MediaStorage['remove'] = async (key) => void this.files.delete(key);

  listOlderThan: MediaStorage['listOlderThan'] = async (beforeMs, limit) =>
    [...this.files]
      .filter(([, { atMs }]) => atMs < beforeMs)
      .map(([key]) => key)
      .slice(0, limit);
}
