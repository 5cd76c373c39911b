import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/log.ts';
import type { IdempotencyStore } from './idempotency-store.ts';
import type { ReplyBudget } from './reply-budget.ts';

/** What one pass deletes before other work of the store has its turn again. */
const rowsMax = 200;
const passesMax = 50;
const sweepEveryMs = 60_000;
/** Measuring what is kept reads through all of it. */
const measureEveryMs = 15 * 60_000;
/** More of what the store did not take is not kept in mind: those keys stay taken until they expire, which is the safe side. */
const unwrittenMax = 10_000;

type UpkeepOptions = {
  readonly store: Pick<IdempotencyStore, 'renewIdempotencyKeys' | 'sweepIdempotencyKeys' | 'endIdempotencyLeases' | 'measureReplies'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly owner: string;
  /** Processes whose name begins so are dead, but for this one; undefined where nobody knows that of any. */
  readonly deadPrefix: string | undefined;
  readonly leaseMs: number;
  readonly budget: ReplyBudget;
};

export type KeyUpkeep = {
  /** This process holds one key more. */
  readonly took: () => void;
  /** It holds one less. */
  readonly gaveBack: () => void;
  /** The store did not take this: it is told again, until it does. */
  readonly tellLater: (work: () => Promise<unknown>) => void;
  readonly close: () => Promise<void>;
};

/** Says from time to time that this process lives while it holds keys, tells the store what it did not take, and deletes what has expired. Outages are logged and waited out. */
export function startKeyUpkeep({ store, clock, logger, owner, deadPrefix, leaseMs, budget }: UpkeepOptions): KeyUpkeep {
  let held = 0;
  let unwritten: (() => Promise<unknown>)[] = [];
  let sweepAtMs = clock.monotonicMs() + sweepEveryMs / 2;
  let measureAtMs = clock.monotonicMs();
  let knowsDead = deadPrefix === undefined;
  let running: Promise<void> | undefined;
  const renew = (): Promise<unknown> => store.renewIdempotencyKeys({ owner, untilMs: clock.nowMs() + leaseMs });
  const tellUnwritten = async (): Promise<void> => {
    for (let work = unwritten.shift(); work !== undefined; work = unwritten.shift()) {
      try {
        await work();
      } catch (error) {
        // Behind the others: the store may never take this one.
        unwritten.push(work);
        throw error;
      }
    }
  };
  const endDead = async (ownerPrefix: string): Promise<void> => {
    await store.endIdempotencyLeases({ ownerPrefix, except: owner });
    knowsDead = true;
  };
  const measure = async (): Promise<void> => {
    measureAtMs = clock.monotonicMs() + measureEveryMs;
    budget.refresh(await store.measureReplies());
  };
  const tick = async (): Promise<void> => {
    const failures: unknown[] = [];
    // Each by itself: what fails for ever keeps none of the others from being done.
    const attempt = (step: () => Promise<unknown>): Promise<unknown> => step().catch((error: unknown) => failures.push(error));
    if (held > 0) await attempt(renew);
    if (unwritten.length > 0) await attempt(tellUnwritten);
    if (!knowsDead && deadPrefix !== undefined) await attempt(() => endDead(deadPrefix));
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
  // Half a dozen times within a lease, so that a few failures in a row do no harm.
  const timer = setInterval(run, leaseMs / 6).unref();
  return {
    took: () => {
      held += 1;
    },
    gaveBack: () => {
      held -= 1;
    },
    tellLater: (work) => {
      if (unwritten.length < unwrittenMax) unwritten.push(work);
    },
    close: async () => {
      clearInterval(timer);
      await running;
      unwritten = [];
    },
  };
}
