import { createContext, Script } from 'node:vm';

import { threadMs } from '../../../../platform/thread-ms.ts';

/** How many times as long an action may be waited for that was kept from working. */
const factorMax = 8;

/** Runs an action that is stopped after so long, whatever it is at: a pattern that backtracks for ever included. */
function runOnce<Result>(msMax: number, action: () => Result): Result {
  const box: { result?: { readonly value: Result } } = {};
  const run = (): void => {
    box.result = { value: action() };
  };
  new Script('run()').runInContext(createContext({ run }), { timeout: msMax });
  if (box.result === undefined) throw new Error('the action did not run');
  return box.result.value;
}

/** The error comes from the other realm, whose `Error` is not ours. */
export const isTimeout = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';

/**
 * Runs an action that is stopped after so long. One that was stopped while the system ran other programs in its place has worked for less than a quarter of that: it is
 * begun anew with twice the time, three times at most.
 */
export function runWithin<Result>(msMax: number, action: () => Result): Result {
  for (let factor = 1; ; factor *= 2) {
    const startedMs = threadMs();
    try {
      return runOnce(factor * msMax, action);
    } catch (error) {
      if (factor === factorMax || !isTimeout(error) || threadMs() - startedMs >= msMax / 4) throw error;
    }
  }
}
