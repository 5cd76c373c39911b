import type { ContentRecord } from '../records/content-record.ts';

/** Records that are sent together. The same batch may be sent again, with the same id. */
export type ContentBatch = {
  /** Letters, digits, `_` and `-`; no other batch of any process has it. */
  readonly id: string;
  readonly records: readonly ContentRecord[];
};

/** A receiver of prompts and replies. */
export type ContentSink = {
  /** The name in the configuration. */
  readonly name: string;
  /** Sends a batch. Resolves when the receiver has all of it, and rejects if it may not have all of it. */
  readonly send: (batch: ContentBatch, signal: AbortSignal) => Promise<void>;
};
