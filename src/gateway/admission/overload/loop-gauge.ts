import { performance } from 'node:perf_hooks';

import { waitingSlices } from '../../../platform/yield-queue.ts';

/** How the event loop has been since it was read last. */
export type LoopReading = {
  /** Mean length of a turn while it had something to do: how long whatever arrives waits until the loop comes round to it. */
  readonly turnMs: number;
  /** What of it was work of its own thread. The rest it waited for a processor, which it would also with fewer calls. */
  readonly workMs: number;
  /** The part of the time in which it had something to do, 0 to 1. */
  readonly busyShare: number;
};

export type LoopGauge = () => LoopReading;

/**
 * Reads this process's event loop. Work that waits for a turn of its own counts as if it stood in the present one: what arrives is done after it all the same, and the
 * turns alone would stay short however much waits. The runtime counts turns and idle time by itself, so that reading costs two microseconds and not reading nothing.
 */
export function createLoopGauge(waiting: () => number = waitingSlices): LoopGauge {
  let lastTurns = 0;
  let last = performance.eventLoopUtilization();
  let lastUsage = process.threadCpuUsage();
  return () => {
    const turns = performance.nodeTiming.uvMetricsInfo.loopCount;
    const now = performance.eventLoopUtilization();
    const { active, utilization } = performance.eventLoopUtilization(now, last);
    const usage = process.threadCpuUsage();
    const workMs = (usage.user + usage.system - lastUsage.user - lastUsage.system) / 1000;
    const newTurns = Math.max(1, turns - lastTurns);
    lastTurns = turns;
    lastUsage = usage;
    last = now;
    const turnsAhead = Math.max(1, waiting());
    return { turnMs: (active / newTurns) * turnsAhead, workMs: (workMs / newTurns) * turnsAhead, busyShare: utilization };
  };
}
