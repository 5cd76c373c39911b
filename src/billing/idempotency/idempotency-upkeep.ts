import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/log.ts';
import type { IdempotencyStore } from './idempotency-store.ts';
import type { ReplyBudget } from './reply-budget.ts';

/** The most rows that one pass deletes before other work of the store can run. */
const rowsMax = 200;
const passesMax = 50;
const sweepEveryMs = 60_000;
/** Measuring the stored answers reads all of their rows. */
const measureEveryMs = 15 * 60_000;
/** More unaccepted writes than this are dropped: their keys then stay held until they expire, which is safe. */
const unwrittenMax = 10_000;

type UpkeepOptions = {
  readonly store: Pick<IdempotencyStore, 'renewIdempotencyKeys' | 'sweepIdempotencyKeys' | 'endIdempotencyLeases' | 'measureReplies'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly owner: string;
  /** Processes whose name has this prefix are dead, except this one; undefined if that is unknown. */
  readonly deadPrefix: string | undefined;
  readonly leaseMs: number;
  readonly budget: ReplyBudget;
};

export type KeyUpkeep = {
  /** Counts a key that this process holds. */
  readonly keyClaimed: () => void;
  /** Counts a key that it no longer holds. */
  readonly keyReleased: () => void;
  /** Repeats a write that the store did not accept, until it does. */
  readonly retryLater: (work: () => Promise<unknown>) => void;
  readonly close: () => Promise<void>;
};

/**
 * Renews the leases of this process while it holds keys, repeats writes that the store did not accept, and deletes
 * expired keys. Failures are logged and retried.
 */
export function startKeyUpkeep({ store, clock, logger, owner, deadPrefix, leaseMs, budget }: UpkeepOptions): KeyUpkeep {
  let held = 0;
  let unwritten: (() => Promise<unknown>)[] = [];
  let sweepAtMs = clock.monotonicMs() + sweepEveryMs / 2;
  let measureAtMs = clock.monotonicMs();
  let hasEndedDead = deadPrefix === undefined;
  let running: Promise<void> | undefined;
  const renew = (): Promise<unknown> => store.renewIdempotencyKeys({ owner, untilMs: clock.nowMs() + leaseMs });
  const writeUnwritten = async (): Promise<void> => {
    for (let work = unwritten.shift(); work !== undefined; work = unwritten.shift()) {
      try {
        await work();
      } catch (error) {
        // At the end of the queue, because the store may never accept this write.
        unwritten.push(work);
        throw error;
      }
    }
  };
  const endDead = async (ownerPrefix: string): Promise<void> => {
    await store.endIdempotencyLeases({ ownerPrefix, except: owner });
    hasEndedDead = true;
  };
  const measure = async (): Promise<void> => {
    measureAtMs = clock.monotonicMs() + measureEveryMs;
    budget.refresh(await store.measureReplies());
  };
  const tick = async (): Promise<void> => {
    const failures: unknown[] = [];
    // Each step runs separately: one that always fails must not block the others.
    const attempt = (step: () => Promise<unknown>): Promise<unknown> => step().catch((error: unknown) => failures.push(error));
    if (held > 0) await attempt(renew);
    if (unwritten.length > 0) await attempt(writeUnwritten);
    if (!hasEndedDead && deadPrefix !== undefined) await attempt(() => endDead(deadPrefix));
    if (clock.monotonicMs() >= sweepAtMs) await attempt(sweep);
    if (clock.monotonicMs() >= measureAtMs) await attempt(measure);
    const [err] = failures;
    if (err !== undefined) logger.warn({ err, failures: failures.length }, 'idempotency key maintenance failed');
  };
  const sweep = async (): Promise<void> => {
    sweepAtMs = clock.monotonicMs() + sweepEveryMs;
    for (let pass = 0; pass < passesMax; pass += 1)
      if ((await store.sweepIdempotencyKeys({ nowMs: clock.nowMs(), rowsMax })) < rowsMax) return;
  };
  const run = (): void => {
    running ??= tick().finally(() => {
      running = undefined;
    });
  };
  run();
  // Six times within a lease, so that a few consecutive failures do no harm.
  const timer = setInterval(run, leaseMs / 6).unref();
  return {
    keyClaimed: () => {
      held += 1;
    },
    keyReleased: () => {
      held -= 1;
    },
    retryLater: (work) => {
      if (unwritten.length < unwrittenMax) unwritten.push(work);
    },
    close: async () => {
      clearInterval(timer);
      await running;
      unwritten = [];
    },
  };
}
