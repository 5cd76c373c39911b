/** A file that is read in pieces, wherever it lies. */
export type ReadableFile = {
  readonly bytes: number;
  /** What lies from `start` to before `end`; less where the file is shorter. */
  readonly readAt: (start: number, end: number) => Promise<Uint8Array>;
};
