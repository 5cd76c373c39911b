import { createContext, Script } from 'node:vm';

import { threadMs } from '../../../../platform/thread-ms.ts';

/** The largest factor by which the time of an action is extended if it got no processor. */
const factorMax = 8;

/** Runs an action with a time limit, which stops even a pattern that backtracks forever. */
function runOnce<Result>(msMax: number, action: () => Result): Result {
  const box: { result?: { readonly value: Result } } = {};
  const run = (): void => {
    box.result = { value: action() };
  };
  new Script('run()').runInContext(createContext({ run }), { timeout: msMax });
  if (box.result === undefined) throw new Error('the action did not run');
  return box.result.value;
}

/** The error comes from the other realm, so `instanceof Error` is false. */
export const isTimeout = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';

/**
 * Runs an action with a time limit. If the system was so busy that a stopped action had less than a quarter of its time
 * on the processor, it starts again with twice the limit, three times at most.
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
