import type { Chunk, Chunking, IndexingError } from '../file-objects.ts';

/** A file whose text is needed in chunks. */
export type ExtractionRequest = {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly filename: string;
  readonly chunking: Chunking;
  /** Files with more text are refused. */
  readonly charactersMax: number;
};

export type ExtractedChunks = readonly Omit<Chunk, 'vector'>[];

/** The number of chunks, or the reason why there are none. */
export type ExtractionReply = { readonly chunks: number } | { readonly error: IndexingError };
