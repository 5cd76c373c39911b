/** A part of a file: bytes from `start` to `end`, both included. */
export type ByteRange = { readonly start: number; readonly end: number };

/** A file could not be kept or read. */
export class MediaStorageError extends Error {
  readonly problem: 'too-large' | 'unavailable';

  constructor(problem: MediaStorageError['problem'], message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.name = 'MediaStorageError';
    this.problem = problem;
  }
}

/** Where finished files are kept: a directory, or an object store. Nothing of a file is held in memory but a few pieces. */
export type MediaStorage = {
  /**
   * Keeps what comes. A file is there whole or not at all; one that was there under the key is replaced. @throws MediaStorageError, and whatever the source throws
   * @param bytesMax more than this is refused, and nothing is kept
   */
  readonly write: (
    key: string,
    source: AsyncIterable<Uint8Array>,
    options: { readonly mediaType: string; readonly bytesMax: number; readonly signal: AbortSignal },
  ) => Promise<{ readonly bytes: number; readonly sha256: string }>;
  /** The bytes of a file or of a part of it, as fast as they are taken; undefined where there is none. Ending the iteration frees what it holds. */
  readonly open: (key: string, range: ByteRange | undefined, signal: AbortSignal) => Promise<AsyncIterable<Uint8Array> | undefined>;
  /** Forgets a file; one that is not there is no error. */
  readonly remove: (key: string) => Promise<void>;
  /** Keys of files and of what was not finished, that have not been written to since a time. For the sweep of what nobody has. */
  readonly listOlderThan: (beforeMs: number, limit: number) => Promise<readonly string[]>;
};
