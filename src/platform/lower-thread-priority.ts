import { setPriority } from 'node:os';

/** Below the gateway's event loop, if both need the same processor. */
const niceness = 10;

/** Lowers the priority of the calling thread. */
export function lowerThreadPriority(): void {
  // On Linux this affects only the calling thread; elsewhere the whole process, which must not change.
  if (process.platform !== 'linux') return;
  try {
    setPriority(niceness);
  } catch {
    // Not permitted on this system: the thread keeps its normal priority.
  }
}
