import { createContext, Script } from 'node:vm';

/** The factor by which the time limit grows for an action that was not running all the time. */
const factorMax = 8;

const box: { action: () => void } = { action: () => {} };
const context = createContext({ run: () => box.action() });
const script = new Script('run()');

function workedMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/**
 * Runs an action and stops it after a time limit. An action that the system suspended has worked for less than a
 * quarter of the limit: it is restarted with twice the time, at most three times. Errors of the action are rethrown.
 * @returns whether it ended by itself
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

/** The error is of the other realm, whose `Error` is a different class. */
const isTimeout = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
