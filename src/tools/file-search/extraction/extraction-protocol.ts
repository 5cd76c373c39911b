import type { Chunk, Chunking, IndexingError } from '../file-objects.ts';

/** A file whose text is wanted in chunks. */
export type ExtractionRequest = {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly filename: string;
  readonly chunking: Chunking;
  /** More text than this is refused. */
  readonly charactersMax: number;
};

export type ExtractedChunks = readonly Omit<Chunk, 'vector'>[];

/** How many chunks there are, or why there are none. */
export type ExtractionReply = { readonly chunks: number } | { readonly error: IndexingError };
