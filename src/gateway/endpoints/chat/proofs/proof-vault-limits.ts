/** Bytes are those of the stored text. Memory and disk need up to twice as many. */
export type ProofVaultLimits = {
  /** How long a turn is kept after its last use. */
  readonly keptMs: number;
  /** A larger turn is not kept. */
  readonly turnBytesMax: number;
  /** Turns in memory. The least recently used are dropped first. */
  readonly memoryBytesMax: number;
  /** Turns that wait for the store. The oldest are dropped first. */
  readonly queueBytesMax: number;
  /** Turns in the store. Those that expire first are deleted first. */
  readonly storeBytesMax: number;
  /** Turns that one recall reads from the store, newest first. */
  readonly recalledBytesMax: number;
  readonly recalledIdsMax: number;
  /** How long an id that is not in the store is not queried again. Another gateway may be about to write it. */
  readonly absentMs: number;
  /** How long a turn waits for others of the same batch. */
  readonly writeDelayMs: number;
  /** How long the store is not used after a failure. */
  readonly retryMs: number;
  /** How long a call waits for the store's answer. */
  readonly storeTimeoutMs: number;
  readonly sweepMs: number;
  readonly closeTimeoutMs: number;
};

const mebibyte = 1_048_576;

export const defaultProofVaultLimits: ProofVaultLimits = {
  keptMs: 24 * 3_600_000,
  turnBytesMax: mebibyte,
  memoryBytesMax: 64 * mebibyte,
  queueBytesMax: 32 * mebibyte,
  storeBytesMax: 1024 * mebibyte,
  recalledBytesMax: 32 * mebibyte,
  recalledIdsMax: 1000,
  absentMs: 5000,
  writeDelayMs: 20,
  retryMs: 1000,
  storeTimeoutMs: 1000,
  sweepMs: 60_000,
  closeTimeoutMs: 5000,
};
