import type { IndexingError } from '../file-objects.ts';

/** Why a file has no text to index, for its owner. */
export class ExtractionError extends Error {
  readonly code: IndexingError['code'];
  constructor(code: IndexingError['code'], message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'ExtractionError';
    this.code = code;
  }
}
