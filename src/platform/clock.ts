/** A source of time. Domain code receives a clock, so that tests can move time and simulate clock jumps. */
export type Clock = {
  /** Wall-clock time in Unix milliseconds. It may jump; use it for times that are stored. */
  readonly nowMs: () => number;
  /** Monotonic milliseconds from an arbitrary start. Use it for durations and deadlines. */
  readonly monotonicMs: () => number;
};

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};
