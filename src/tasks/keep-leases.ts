import type { TaskParts } from './task-parts.ts';
import { leaseMs, leaseRenewalMs } from './timings.ts';

/** The leases of work that takes longer than one: submissions and copies. */
export type LeaseKeeper = {
  /**
   * Renews the lease of a task from now on, for so long at most. What is kept already goes on as it was.
   * @param kept.onLost called when another process has the task, or it is over
   */
  readonly keep: (id: string, kept: { readonly forMs: number; readonly onLost?: () => void }) => void;
  /** Renews it no longer. */
  readonly drop: (id: string) => void;
  /** Whether this process works on the task for longer. */
  readonly has: (id: string) => boolean;
  readonly run: (signal: AbortSignal) => Promise<void>;
};

export function createLeaseKeeper(parts: Pick<TaskParts, 'store' | 'owner' | 'clock' | 'wait' | 'logger'>): LeaseKeeper {
  const { store, owner, clock, wait, logger } = parts;
  const kept = new Map<string, { readonly untilMs: number; readonly onLost: (() => void) | undefined }>();
  const renew = async (id: string): Promise<void> => {
    const entry = kept.get(id);
    if (entry === undefined) return;
    try {
      if (clock.monotonicMs() < entry.untilMs) {
        if (await store.renewTask({ id, owner, leaseUntilMs: clock.nowMs() + leaseMs })) return;
      }
    } catch (error) {
      // The next renewal may go well. If none does, the lease runs out, and whoever takes the task is told apart by it.
      logger.warn({ task: id, err: error }, 'the lease of a video could not be renewed');
      return;
    }
    if (kept.get(id) !== entry) return;
    kept.delete(id);
    entry.onLost?.();
  };
  return {
    keep: (id, { forMs, onLost }) => {
      if (!kept.has(id)) kept.set(id, { untilMs: clock.monotonicMs() + forMs, onLost });
    },
    drop: (id) => void kept.delete(id),
    has: (id) => kept.has(id),
    run: async (signal) => {
      while (!signal.aborted) {
        await wait(leaseRenewalMs, signal);
        if (!signal.aborted) await Promise.all([...kept.keys()].map(renew));
      }
    },
  };
}
