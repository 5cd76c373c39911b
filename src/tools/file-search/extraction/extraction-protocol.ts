import type { Chunk, Chunking, IndexingError } from '../file-objects.ts';

/** A file whose text is wanted in chunks. */
export type ExtractionRequest = {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly filename: string;
  readonly chunking: Chunking;
  /** More text than this is refused. */
  readonly charactersMax: number;
};

export type ExtractionReply = { readonly chunks: readonly Omit<Chunk, 'vector'>[] } | { readonly error: IndexingError };
