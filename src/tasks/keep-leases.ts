import type { TaskParts } from './task-parts.ts';
import { leaseMs, leaseRenewalMs } from './timings.ts';

/** Renews the leases of long work: submissions and copies. */
export type LeaseKeeper = {
  /**
   * Renews the lease of a task from now on, for at most `forMs`. A lease that is kept already is not changed.
   * @param kept.onLost called if another process has the task, or if it has ended
   */
  readonly keep: (id: string, kept: { readonly forMs: number; readonly onLost?: () => void }) => void;
  /** Stops the renewal. */
  readonly drop: (id: string) => void;
  /** Whether this process renews the lease of the task. */
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
      // The next renewal may succeed. If none does, the lease expires and another process takes the task.
      logger.warn({ task: id, err: error }, 'renewing the lease of a video failed');
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
