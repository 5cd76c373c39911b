/** Bounds of what is kept under idempotency keys. */
export type IdempotencySettings = {
  /** For how long an answer is given again, in hours. */
  readonly retentionHours: number;
  /** The most bytes of one answer that are kept. */
  readonly replyBytesMax: number;
  /** The most bytes of answers that are kept of all API keys together, and of each. */
  readonly totalBytesMax: number;
  readonly apiKeyBytesMax: number;
  /** For how long a repetition waits for the request that is under way, in milliseconds; 0: not at all. */
  readonly waitMs: number;
};

const mebibyte = 1024 * 1024;

export const defaultIdempotencySettings: IdempotencySettings = {
  retentionHours: 24,
  replyBytesMax: 16 * mebibyte,
  totalBytesMax: 8 * 1024 * mebibyte,
  apiKeyBytesMax: 1024 * mebibyte,
  waitMs: 30_000,
};
