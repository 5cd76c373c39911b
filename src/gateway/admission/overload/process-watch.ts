import type { Logger } from '../../../platform/log.ts';
import { createAdaptiveLimit } from './adaptive-limit.ts';
import type { LoopGauge, LoopReading } from './loop-gauge.ts';
import type { MemoryGauge } from './memory-gauge.ts';

/** What the gate did since it was looked at last. */
type GateActivity = {
  readonly inFlight: number;
  readonly admitted: number;
  readonly refused: number;
  /** Whether a call had to wait or was refused. */
  readonly wasFelt: boolean;
};

export type ProcessStanding = LoopReading & {
  /** Of the memory that the process may use, 0 to 1. */
  readonly memoryShare: number;
  /** Calls that the process can serve at a time; undefined where that is of no concern. */
  readonly limit: number | undefined;
};

export type ProcessWatch = {
  /** Looks at the process, and says how many calls it can serve at a time. */
  readonly step: (activity: GateActivity, loopDelayMs: number) => number | undefined;
  readonly standing: () => ProcessStanding;
  /** Whether so much memory is used that connections should not be kept. */
  readonly isMemoryTight: () => boolean;
};

const memoryTight = 0.92;
const memoryFull = 0.95;
/** A process that lets nobody in makes no garbage, never collects it and stays full: a few calls are let in whatever the memory is. */
const callsWhenFull = 8;
/** Steps between two looks at the memory, which changes slowly and is dear to read. */
const memorySteps = 5;

/** Watches event loop and memory of the process, and tells the operator when they limit it. */
export function createProcessWatch(options: {
  readonly logger: Logger;
  readonly readLoop: LoopGauge;
  readonly readMemoryShare: MemoryGauge;
}): ProcessWatch {
  const { logger, readLoop, readMemoryShare } = options;
  const adaptiveLimit = createAdaptiveLimit();
  let steps = 0;
  let loop = readLoop();
  let memoryShare = readMemoryShare();
  let limit: number | undefined;
  let refusedCalls = 0;

  function report(before: number | undefined, inFlight: number): void {
    if ((before === undefined) === (limit === undefined)) return;
    const figures = {
      inFlight,
      turnMs: Math.round(loop.turnMs),
      workMs: Math.round(loop.workMs),
      memoryShare: Math.round(memoryShare * 100) / 100,
    };
    if (limit === undefined) logger.info({ ...figures, refusedCalls }, 'no longer overloaded');
    else logger.warn(figures, 'overloaded: calls are limited to what the process can serve');
    refusedCalls = 0;
  }

  return {
    step: (activity, loopDelayMs) => {
      if (steps++ % memorySteps === 0) memoryShare = readMemoryShare();
      loop = readLoop();
      const before = limit;
      limit = adaptiveLimit.step({ ...loop, ...activity }, loopDelayMs);
      if (memoryShare > memoryFull) limit = callsWhenFull;
      refusedCalls += activity.refused;
      report(before, activity.inFlight);
      return limit;
    },
    standing: () => ({ ...loop, memoryShare, limit }),
    isMemoryTight: () => memoryShare > memoryTight,
  };
}
