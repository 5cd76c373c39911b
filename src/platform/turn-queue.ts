/** Work that is done in pieces, between which everything else of the process has its turn. */
export type TurnQueue = {
  /** Resolves in a later turn of the event loop, after whoever waits already. */
  readonly nextTurn: () => Promise<void>;
  /** How many wait. */
  readonly waiting: () => number;
};

/**
 * Makes a queue. Of all that wait in it one goes on in each turn of the event loop, so that ten large pieces of work hold others up no longer than one does.
 * @param schedule calls back in the next turn
 */
export function createTurnQueue(schedule: (callback: () => void) => void = setImmediate): TurnQueue {
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
 * Larger bodies are worked on piece by piece, and a piece waits where the present turn has been at work for long (`giveWayIfLong`). Below this everything that is done with one takes a few milliseconds at most,
 * whatever it is, so that twenty of them that come in one turn hold up others for no longer than a person notices.
 */
export const largeBodyBytes = 32 * 1024;

/** What is scanned, parsed or written in one step: a few milliseconds at most, whatever it is. */
export const stepBytesUsual = 256 * 1024;

/** How long one piece of work may go on in its turn. Others are held up by this and by one step of the work. */
const turnMs = 8;

/** The queue of this process, which has one event loop. */
const processQueue = createTurnQueue();

/** Pieces of work in this process that wait for a turn of their own. */
export const waitingTurns = (): number => processQueue.waiting();

/** For how long pieces of work may share one turn of the event loop. */
const sharedTurnMs = 3;

/** Since when the present turn of the event loop has been at work on large bodies. */
let sharedSinceMs: number | undefined;

const endShared = (): void => {
  sharedSinceMs = undefined;
};

/**
 * Gives way where the present turn of the event loop has been at work on large bodies for long. Undefined where it has not: the work goes on at once. Bodies
 * that are quick share a turn, and so their writes to sockets and to the journal; twenty that are slow have a turn each.
 */
export function giveWayIfLong(): Promise<void> | undefined {
  const nowMs = performance.now();
  if (sharedSinceMs === undefined) {
    sharedSinceMs = nowMs;
    setImmediate(endShared);
    return undefined;
  }
  return nowMs - sharedSinceMs < sharedTurnMs ? undefined : processQueue.nextTurn();
}

/** One piece of work: tells when its turn is over. */
export class WorkTurns {
  readonly #queue: TurnQueue;
  #startedMs = performance.now();

  constructor(queue: TurnQueue = processQueue) {
    this.#queue = queue;
  }

  /** Whether the work has to give way. */
  get isOver(): boolean {
    return performance.now() - this.#startedMs >= turnMs;
  }

  /** Gives way; the work goes on when this resolves. */
  async giveWay(): Promise<void> {
    await this.#queue.nextTurn();
    this.#startedMs = performance.now();
  }
}
