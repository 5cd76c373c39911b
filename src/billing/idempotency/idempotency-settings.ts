/** Bounds of what is kept under idempotency keys. */
export type IdempotencySettings = {
  /** For how long an answer is given again, in hours. */
  readonly retentionHours: number;
  /** The most bytes of one answer that are kept. */
  readonly replyBytesMax: number;
  /** For how long a repetition waits for the request that is under way, in milliseconds; 0: not at all. */
  readonly waitMs: number;
};

export const defaultIdempotencySettings: IdempotencySettings = { retentionHours: 24, replyBytesMax: 16 * 1024 * 1024, waitMs: 30_000 };
