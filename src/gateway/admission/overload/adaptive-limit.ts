import type { LoopReading } from './loop-gauge.ts';

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
