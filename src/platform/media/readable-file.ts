/** A file that is read in pieces, in any storage. */
export type ReadableFile = {
  readonly bytes: number;
  /** The bytes `[start, end)`; fewer if the file is shorter. */
  readonly readAt: (start: number, end: number) => Promise<Uint8Array>;
};
