import { readFileSync } from 'node:fs';

/** What a pace is measured and made with. */
export type PaceClock = {
  /** Time that never goes back, in milliseconds. */
  readonly nowMs: () => number;
  /** How long the thread of the calls has worked, or was ready and waited for a core, in milliseconds. */
  readonly callsMs: () => number;
  /** Blocks the thread. */
  readonly sleep: (ms: number) => void;
};

/** A thread works this long before the others may take its core. The system would let it work for several ms. */
const workMs = 0.05;
/** The shortest sleep that is one; the system adds about as much. */
const sleepMs = 0.05;
/** After 5 ms without a chance to pause, the thread has slept, or was in a statement that no pause makes shorter. */
const freshAfterMs = 5;
/** How often the load of the thread of the calls is looked at. */
const windowMs = 100;
/**
 * If the thread of the calls wants a core for more of the time, calls wait in any case, and pauses only cost processor
 * time.
 */
const busyShare = 0.95;

const nobody = new Int32Array(new SharedArrayBuffer(4));

/** Time on a core and time waiting for one, both in nanoseconds, of the first thread of a process. */
const timesOfCalls = /^(?<workedNs>\d+) (?<waitedNs>\d+) /;

function callsMs(): number {
  try {
    const { workedNs, waitedNs } = timesOfCalls.exec(readFileSync('/proc/self/schedstat', 'latin1'))?.groups ?? {};
    return (Number(workedNs) + Number(waitedNs)) / 1e6;
  } catch {
    // Other systems do not say it. There, what the whole process uses counts.
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  }
}

const systemClock: PaceClock = {
  nowMs: () => performance.now(),
  callsMs,
  sleep: (ms) => void Atomics.wait(nobody, 0, 0, ms),
};

/** How a thread shares its core with the others of its process. */
export type Pace = {
  /**
   * To be called between pieces of work, as often as possible. It sleeps for a moment if this thread has worked for
   * 50 µs since its last pause, and if the thread of the calls is not busy all the time.
   */
  readonly giveWay: () => void;
  /** Whether the calls had all of a core when `giveWay` last looked, or wanted it: then large steps cost least. */
  readonly isBusy: () => boolean;
};

/** For threads that nothing waits for. */
export const noPace: Pace = { giveWay: () => {}, isBusy: () => false };

/**
 * Keeps a thread from holding a core that the thread of the calls may need at any moment. A transaction of a thousand
 * rows takes 20 ms of processor time. The system lets a thread work for 3 to 5 ms before one that has become ready.
 */
export function createPace({ nowMs, callsMs, sleep }: PaceClock = systemClock): Pace {
  let sinceMs = nowMs();
  let seen = { atMs: sinceMs, callsMs: callsMs() };
  let calledMs = sinceMs;
  let isBusy = false;
  const look = (atMs: number): void => {
    const now = { atMs, callsMs: callsMs() };
    isBusy = now.callsMs - seen.callsMs > (atMs - seen.atMs) * busyShare;
    seen = now;
  };
  const giveWay = (): void => {
    const atMs = nowMs();
    if (atMs - calledMs > freshAfterMs) sinceMs = atMs;
    calledMs = atMs;
    if (atMs - sinceMs < workMs) return;
    if (atMs - seen.atMs >= windowMs) look(atMs);
    if (!isBusy) sleep(sleepMs);
    sinceMs = calledMs = nowMs();
  };
  return { giveWay, isBusy: () => isBusy };
}
