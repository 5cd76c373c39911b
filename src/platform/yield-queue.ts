/** Queues work that is done in slices. Between two slices the event loop runs all other work. */
export type YieldQueue = {
  /** Resolves in a later turn of the event loop, after the callers that already wait. */
  readonly nextTurn: () => Promise<void>;
  /** Number of callers that wait. */
  readonly waiting: () => number;
};

/**
 * Makes a queue. Each turn of the event loop resumes one of the callers that wait, so that ten large pieces of work
 * delay others no longer than one does.
 * @param schedule calls back in the next turn
 */
export function createYieldQueue(schedule: (callback: () => void) => void = setImmediate): YieldQueue {
  const waiting: (() => void)[] = [];
  const runOne = (): void => {
    const next = waiting.shift();
    if (waiting.length > 0) schedule(runOne);
    next?.();
  };
  return {
    nextTurn: () =>
      new Promise((resolve) => {
        waiting.push(resolve);
        if (waiting.length === 1) schedule(runOne);
      }),
    waiting: () => waiting.length,
  };
}

/**
 * Larger bodies are processed in slices, and a slice waits if the current turn has worked for long (`yieldIfLong`).
 * Every operation on a smaller body takes a few milliseconds at most, so twenty that arrive in one turn cause no delay
 * that a person notices.
 */
export const largeBodyBytes = 32 * 1024;

/** Bytes that are scanned, parsed or written in one step, which takes a few milliseconds at most. */
export const stepBytesUsual = 256 * 1024;

/** Longest time for one slice. Others are delayed by this time and by one step of the work. */
const turnMs = 8;

/** The queue of this process, which has one event loop. */
const processQueue = createYieldQueue();

/** Slices that wait in this process. */
export const waitingSlices = (): number => processQueue.waiting();

/** Longest time for all slices that share one turn of the event loop. */
const sharedTurnMs = 3;

/** When the current turn of the event loop began to work on large bodies. */
let sharedSinceMs: number | undefined;

const endShared = (): void => {
  sharedSinceMs = undefined;
};

/**
 * Yields to the event loop if the current turn has worked on large bodies for long. Otherwise returns undefined, and
 * the work continues at once. Quick bodies share a turn, and with it their writes to sockets and to the journal; slow
 * bodies get one turn each.
 */
export function yieldIfLong(): Promise<void> | undefined {
  const sinceMs = shareTurn();
  return performance.now() - sinceMs < sharedTurnMs ? undefined : processQueue.nextTurn();
}

/** When the current turn began to work on large bodies: now, if it did not yet. */
function shareTurn(): number {
  if (sharedSinceMs === undefined) {
    sharedSinceMs = performance.now();
    setImmediate(endShared);
  }
  return sharedSinceMs;
}

/** Divides one piece of work into slices, and knows when the current slice is over. */
export class WorkSlices {
  readonly #queue: YieldQueue;
  /** Pieces of work that follow each other in one turn share its time. */
  #startedMs = shareTurn();

  constructor(queue: YieldQueue = processQueue) {
    this.#queue = queue;
  }

  /** Whether the work must yield. */
  get isOver(): boolean {
    return performance.now() - this.#startedMs >= turnMs;
  }

  /** Yields to the event loop. The work continues when this resolves. */
  async yield(): Promise<void> {
    await this.#queue.nextTurn();
    this.#startedMs = shareTurn();
  }
}
