import { totalmem } from 'node:os';
import { performance } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';

import type { Logger } from '../../../platform/log.ts';
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

/** What part of the memory that it may use the process uses, 0 to 1. */
export type MemoryGauge = () => number;

/**
 * The larger of two shares: of the memory that the container or the machine has, and of the heap that V8 allows itself. Reading takes 10 µs.
 */
export function createMemoryGauge(): MemoryGauge {
  // Without a limit the system says 0 or a number beyond all memory.
  const constrained = process.constrainedMemory();
  const limit = constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
  return () => {
    const { used_heap_size: usedHeap, heap_size_limit: heapLimit } = getHeapStatistics();
    return Math.max(process.memoryUsage.rss() / limit, usedHeap / heapLimit);
  };
}

/** What happened since the last step. */
export type LoopSample = LoopReading & {
  /** Calls under way now. */
  readonly inFlight: number;
  /** Calls let in, and calls refused. */
  readonly admitted: number;
  readonly refused: number;
  /** Whether the limit kept a call waiting or out. */
  readonly wasFelt: boolean;
};

export type AdaptiveLimit = {
  /** Takes a sample, one for each `stepMs`, and says how many calls may be under way; undefined when there is no need for a limit. */
  readonly step: (sample: LoopSample, loopDelayMs: number) => number | undefined;
};

/** Time between two samples. */
export const stepMs = 100;

/** Never fewer calls than this: a turn that is long for another reason than calls must not end in refusing everyone. */
export const callsFloor = 64;

/** Long turns in a row before calls are limited. One alone may be a pause of the garbage collector or a large body. */
const longTurnsMin = 2;
/** Time without anything refused after which there is no limit any more. */
const calmMs = 5000;
/** While calls are limited, turns are brought to this part of the length that began it: calls cost no more then, and answers are quick. */
const targetShare = 0.4;
/** What a step takes away for each time that turns are too long, and at most: shares of the calls. */
const cutGain = 0.1;
const cutMax = 0.4;
/** What a step adds: the less, the less the loop rests, so that the way to the brink is taken in small steps. */
const growthMin = 0.005;
const growthMax = 0.05;
/** Turns that are long while the loop also rests have another cause than too many calls: a busy machine, a large body. */
const busyMin = 0.9;
/** Answers to refused calls that cost as much as a small call. */
const refusalsPerCall = 4;

/**
 * Finds how many calls at a time the process can serve. Its event loop takes one turn after the other, and everything that has arrived meanwhile waits for the
 * next: when more comes than it can do, turns grow without end. The mean turn is therefore the queue, wherever in the kernel it stands, and single
 * long pauses hardly show in it. Once it is too long, the work in it is what the limit follows: on a machine that others use as well, turns are long with few calls too. The limit is on calls under way and not on calls per second, because a call may use the process for minutes.
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

  /** Cuts below what is under way, not below the last limit: calls that last long would not feel several cuts before the first has worked. */
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

/** The work of a turn that calls make. Fewer calls would not make less what refusals are. */
function workOfCalls({ workMs, admitted, refused }: LoopSample): number {
  return refused === 0 ? workMs : (workMs * (admitted + 1)) / (admitted + 1 + refused / refusalsPerCall);
}

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
