import { createContext, Script } from 'node:vm';

/** How many times as long an action may be waited for that was kept from working. */
const factorMax = 8;

const box: { action: () => void } = { action: () => {} };
const context = createContext({ run: () => box.action() });
const script = new Script('run()');

function workedMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/**
 * Runs an action and stops it after so long, whatever it is at. One that was stopped while the system ran other programs in its place has worked for less than a quarter
 * of that: it is begun anew with twice the time, three times at most. What the action throws comes out.
 * @returns whether it came to its end
 */
export function runWithin(msMax: number, action: () => void): boolean {
  box.action = action;
  try {
    for (let factor = 1; ; factor *= 2) {
      const startedMs = workedMs();
      try {
        script.runInContext(context, { timeout: factor * msMax });
        return true;
      } catch (error) {
        if (!isTimeout(error)) throw error;
        if (factor === factorMax || workedMs() - startedMs >= msMax / 4) return false;
      }
    }
  } finally {
    box.action = () => {};
  }
}

/** The error comes from the other realm, whose `Error` is not ours. */
const isTimeout = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
