/** Limits of stored answers. */
export type IdempotencySettings = {
  /** How long an answer is repeated, in hours. */
  readonly retentionHours: number;
  /** The most bytes of one stored answer. */
  readonly replyBytesMax: number;
  /** The most bytes of stored answers for all API keys together, and for each. */
  readonly totalBytesMax: number;
  readonly apiKeyBytesMax: number;
  /** How long a repeated request waits for the running one, in milliseconds; 0: not at all. */
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
