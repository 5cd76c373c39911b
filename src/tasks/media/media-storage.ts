/** A part of a file: bytes from `start` to `end`, both inclusive. */
export type ByteRange = { readonly start: number; readonly end: number };

/** A file could not be stored or read. */
export class MediaStorageError extends Error {
  readonly problem: 'too-large' | 'unavailable';

  constructor(problem: MediaStorageError['problem'], message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.name = 'MediaStorageError';
    this.problem = problem;
  }
}

/** Stores finished files, in a directory or an object store. Only a few pieces of a file are in memory. */
export type MediaStorage = {
  /**
   * Stores a file, as a whole or not at all. An existing file of the key is replaced. @throws MediaStorageError, and
   * the errors of the source
   * @param bytesMax a larger file is refused, and nothing is stored
   */
  readonly write: (
    key: string,
    source: AsyncIterable<Uint8Array>,
    options: { readonly mediaType: string; readonly bytesMax: number; readonly signal: AbortSignal },
  ) => Promise<{ readonly bytes: number; readonly sha256: string }>;
  /**
   * The bytes of a file or of a part of it, at the speed of the reader; undefined if there is no file. Ending the
   * iteration frees its resources.
   */
  readonly open: (key: string, range: ByteRange | undefined, signal: AbortSignal) => Promise<AsyncIterable<Uint8Array> | undefined>;
  /** Deletes a file. A missing file is not an error. */
  readonly remove: (key: string) => Promise<void>;
  /** Keys of finished and unfinished files that were not written to since a time. For the sweep of abandoned files. */
  readonly listOlderThan: (beforeMs: number, limit: number) => Promise<readonly string[]>;
};
