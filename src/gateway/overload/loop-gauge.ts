import { performance } from 'node:perf_hooks';

/** How the event loop has been since it was read last. */
export type LoopReading = {
  /** Mean length of a turn while it had something to do: how long whatever arrives waits until the loop comes round to it. */
  readonly turnMs: number;
  /** The part of the time in which it had something to do, 0 to 1. */
  readonly busyShare: number;
};

export type LoopGauge = () => LoopReading;

/**
 * Reads this process's event loop. The runtime counts turns and idle time by itself, so that reading costs a microsecond and not reading nothing.
 */
export function createLoopGauge(): LoopGauge {
  let lastTurns = 0;
  let last = performance.eventLoopUtilization();
  return () => {
    const turns = performance.nodeTiming.uvMetricsInfo.loopCount;
    const now = performance.eventLoopUtilization();
    const { active, utilization } = performance.eventLoopUtilization(now, last);
    const turnMs = active / Math.max(1, turns - lastTurns);
    lastTurns = turns;
    last = now;
    return { turnMs, busyShare: utilization };
  };
}
