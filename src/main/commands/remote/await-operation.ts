import { setTimeout as delay } from 'node:timers/promises';

import { AdminProblem } from '../../../admin/problem.ts';
import { cancelOperation, getOperation } from '../../../admin/resources/operations/operation-resource.ts';
import type { AdminService } from '../../../admin/service/admin-service.ts';
import { ControlError } from '../../../control/control-error.ts';
import { StartError } from '../../environment.ts';

/** Long work as the API shows it. */
export type ShownOperation = NonNullable<typeof getOperation.types>['reply'];

const pollMs = 500;

/**
 * Waits until long work has ended. If the signal aborts, the work is cancelled, and what was finished is its result.
 * @param onChange called with the work after each look
 * @throws StartError if the work failed
 */
export async function awaitOperation(
  service: AdminService,
  started: ShownOperation,
  { signal, onChange }: { readonly signal: AbortSignal; readonly onChange?: (operation: ShownOperation) => void },
): Promise<ShownOperation> {
  const params = { id: started.id };
  let isCancelled = false;
  for (let seen = started; ;) {
    onChange?.(seen);
    if (seen.problem !== null && seen.ended_at !== null) throw new StartError(seen.problem.detail);
    if (seen.ended_at !== null) return seen;
    if (signal.aborted && !isCancelled) {
      isCancelled = true;
      await service.call(cancelOperation, { params }).catch(unlessEnded);
    }
    // The process that runs the work ends it within its own limits.
    await delay(pollMs, undefined, { signal: isCancelled ? undefined : signal }).catch(() => undefined);
    seen = (await service.call(getOperation, { params })).body;
  }
}

/** Work that has just ended cannot be cancelled, and needs not be. */
function unlessEnded(error: unknown): void {
  const hasEnded = error instanceof AdminProblem ? error.code === 'conflict' : error instanceof ControlError;
  if (!hasEnded) throw error;
}

/** A signal that aborts when the command is interrupted. Only once: a second interruption ends the process. */
export function interruption(): AbortSignal {
  abortOfSignals ??= listenOnce();
  return abortOfSignals.signal;
}

let abortOfSignals: AbortController | undefined;

/** One pair of listeners for the process, however many commands run in it. */
function listenOnce(): AbortController {
  const abort = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => abort.abort());
  return abort;
}
