import { totalmem } from 'node:os';
import { performance } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';

import type { Logger } from '../../../platform/log.ts';
import { waitingSlices } from '../../../platform/yield-queue.ts';

/** The event loop since the last reading. */
export type LoopReading = {
  /** The mean length of a turn with work: how long an arriving event waits for its turn. */
  readonly turnMs: number;
  /**
   * The part of the turn that its own thread worked. The rest it waited for a processor, as it also would with fewer
   * calls.
   */
  readonly workMs: number;
  /** The share of time with work, 0 to 1. */
  readonly busyShare: number;
};

export type LoopGauge = () => LoopReading;

/**
 * Reads this process's event loop. Work that has yielded counts as a part of the present turn, because arriving events
 * are handled after it as well; otherwise turns would stay short however much work waits. The runtime counts turns and
 * idle time by itself: a reading takes two microseconds, and nothing runs between readings.
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

/** The share of its memory that the process uses, 0 to 1. */
export type MemoryGauge = () => number;

/**
 * The larger of two shares: of the memory of the container or the machine, and of the heap limit of V8. A reading takes
 * 10 µs.
 */
export function createMemoryGauge(): MemoryGauge {
  // Without a limit the system reports 0 or more than all memory.
  const constrained = process.constrainedMemory();
  const limit = constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
  return () => {
    const { used_heap_size: usedHeap, heap_size_limit: heapLimit } = getHeapStatistics();
    return Math.max(process.memoryUsage.rss() / limit, usedHeap / heapLimit);
  };
}

/** The events since the last step. */
export type LoopSample = LoopReading & {
  /** Running calls. */
  readonly inFlight: number;
  /** Admitted and refused calls. */
  readonly admitted: number;
  readonly refused: number;
  /** Whether the limit delayed or refused a call. */
  readonly wasFelt: boolean;
};

export type AdaptiveLimit = {
  /**
   * Takes a sample every `stepMs`.
   * @returns how many calls may run; undefined if no limit is needed
   */
  readonly step: (sample: LoopSample, loopDelayMs: number) => number | undefined;
};

/** Time between two samples. */
export const stepMs = 100;

/** The lowest limit: a turn that is long for another reason than calls must not refuse all callers. */
export const callsFloor = 64;

/** Consecutive long turns before calls are limited. A single one may be a garbage collection or a large body. */
const longTurnsMin = 2;
/** Time without refusals after which the limit ends. */
const calmMs = 5000;
/**
 * While calls are limited, turns are reduced to this part of the length that began the limit: calls then cost no more,
 * and answers are quick.
 */
const targetShare = 0.4;
/** The reduction of a step for each excess over the target, and its maximum: shares of the calls. */
const cutGain = 0.1;
const cutMax = 0.4;
/** The growth of a step: slower the busier the loop is, so that the limit approaches overload in small steps. */
const growthMin = 0.005;
const growthMax = 0.05;
/**
 * Turns that are long while the loop is also idle have another cause than too many calls: a busy machine, or a large
 * body.
 */
const busyMin = 0.9;
/** Refusals that cost as much as a small call. */
const refusalsPerCall = 4;

/**
 * Finds how many calls the process can serve at a time. Events that arrive during a turn of the event loop wait for the
 * next one, so turns become longer and longer under overload. The mean turn therefore measures the queue, also its part
 * in the kernel, and single long pauses hardly change it. Once it is too long, the limit follows the work in it,
 * because on a shared machine turns are long with few calls as well. The limit is on running calls and not on calls per
 * second, because a call may use the process for minutes.
 */
export function createAdaptiveLimit(): AdaptiveLimit {
  let limit: number | undefined;
  let longTurns = 0;
  let calmSteps = 0;

  function begin({ turnMs, workMs, busyShare, inFlight }: LoopSample, loopDelayMs: number): void {
    const isLong = turnMs > loopDelayMs && workMs > loopDelayMs * targetShare && busyShare > busyMin;
    longTurns = isLong ? longTurns + 1 : 0;
    if (longTurns < longTurnsMin) return;
    longTurns = 0;
    calmSteps = 0;
    limit = Math.max(callsFloor, inFlight);
  }

  /**
   * Reduces to below the running calls, not below the last limit: long calls would not end faster after several
   * reductions.
   */
  function adapt(current: number, sample: LoopSample, targetMs: number): number {
    const { inFlight, busyShare, wasFelt } = sample;
    const excess = workOfCalls(sample) / targetMs - 1;
    if (excess > 0 && busyShare > busyMin)
      return Math.min(current, Math.max(callsFloor, inFlight * (1 - Math.min(cutMax, excess * cutGain))));
    return wasFelt ? current + 1 + current * (growthMin + growthMax * (1 - busyShare)) * Math.max(0, -excess) : current;
  }

  return {
    step: (sample, loopDelayMs) => {
      if (limit === undefined) {
        begin(sample, loopDelayMs);
        return limit === undefined ? undefined : Math.floor(limit);
      }
      const targetMs = loopDelayMs * targetShare;
      limit = adapt(limit, sample, targetMs);
      calmSteps = sample.wasFelt || (sample.workMs > targetMs && sample.busyShare > busyMin) ? 0 : calmSteps + 1;
      if (calmSteps * stepMs >= calmMs) limit = undefined;
      return limit === undefined ? undefined : Math.floor(limit);
    },
  };
}

/** The work of calls in a turn, without that of refusals, which fewer calls would not reduce. */
function workOfCalls({ workMs, admitted, refused }: LoopSample): number {
  return refused === 0 ? workMs : (workMs * (admitted + 1)) / (admitted + 1 + refused / refusalsPerCall);
}

/** The events at the gate since the last step. */
type GateActivity = {
  readonly inFlight: number;
  readonly admitted: number;
  readonly refused: number;
  /** Whether a call had to wait or was refused. */
  readonly wasFelt: boolean;
};

export type ProcessState = LoopReading & {
  /** Share of the memory that the process may use, 0 to 1. */
  readonly memoryShare: number;
  /** Calls that the process can serve at a time. Undefined if there is no need for a limit. */
  readonly limit: number | undefined;
};

export type ProcessWatch = {
  /**
   * Reads the process.
   * @returns how many calls it can serve at a time
   */
  readonly step: (activity: GateActivity, loopDelayMs: number) => number | undefined;
  readonly state: () => ProcessState;
  /** Whether memory is too short to keep connections open. */
  readonly isMemoryTight: () => boolean;
};

const memoryTight = 0.92;
const memoryFull = 0.95;
/**
 * A process without calls produces no garbage, never collects it and stays full. A few calls are admitted at any
 * memory.
 */
const callsWhenFull = 8;
/** Steps between two readings of the memory, which changes slowly and is expensive to read. */
const memorySteps = 5;

/** Watches the event loop and the memory of the process, and logs when they limit it. */
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
    if (limit === undefined) logger.info({ ...figures, refusedCalls }, 'overload ended');
    else logger.warn(figures, 'overload began');
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
    state: () => ({ ...loop, memoryShare, limit }),
    isMemoryTight: () => memoryShare > memoryTight,
  };
}
