/** Where time comes from. Domain code takes a clock so that tests can move time and clock jumps can be reasoned about. */
export type Clock = {
  /** Wall-clock time in Unix milliseconds. It may jump; use it for what is written down. */
  readonly nowMs: () => number;
  /** Monotonic milliseconds from an arbitrary start. Use it for durations and deadlines. */
  readonly monotonicMs: () => number;
};

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};
