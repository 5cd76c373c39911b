import type { Conversations } from '../../../../conversations/response-store.ts';
import type { Clock } from '../../../../platform/clock.ts';
import type { JsonObject } from '../../../../platform/json/json-value.ts';
import type { Logger } from '../../../../platform/log.ts';
import { BackgroundRun, type RunRecord, type RunStore } from './background-run.ts';

/** The methods of the store that background responses use. */
export type BackgroundStore = RunStore & Pick<Conversations, 'findResponse' | 'readEvents'>;

/** The background responses that this process generates, and access to those in the store. */
export type BackgroundRuns = {
  readonly conversations: BackgroundStore;
  /** Stores a queued response and begins its run. Rejects as the store does. */
  readonly begin: (begun: {
    readonly record: RunRecord;
    readonly queued: JsonObject;
    readonly conclude?: ((response: JsonObject) => Promise<void>) | undefined;
  }) => Promise<BackgroundRun>;
  /** The number of runs. */
  readonly size: () => number;
  readonly find: (userName: string, id: string) => BackgroundRun | undefined;
  /** Waits until all runs have ended, for the grace period at most. The rest ends as failed. */
  readonly end: (graceMs: number) => Promise<void>;
};

export function createBackgroundRuns(options: {
  readonly conversations: BackgroundStore;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'warn' | 'error'>;
}): BackgroundRuns {
  const { conversations, clock, logger } = options;
  const runs = new Map<string, BackgroundRun>();
  return {
    conversations,
    begin: async ({ record, queued, conclude }) => {
      const onOver = ({ record: { id } }: BackgroundRun): void => void runs.delete(id);
      const run = new BackgroundRun({ record, queued, store: conversations, clock, logger, conclude, onOver });
      await run.begin();
      runs.set(record.id, run);
      return run;
    },
    size: () => runs.size,
    find: (userName, id) => {
      const run = runs.get(id);
      return run?.record.userName === userName ? run : undefined;
    },
    end: async (graceMs) => {
      if (runs.size === 0) return;
      const message = 'The gateway was shut down while the response was generated.';
      const cut = setTimeout(() => {
        for (const run of runs.values()) void run.abort('server_error', message);
      }, graceMs);
      await Promise.all([...runs.values()].map((run) => run.over));
      clearTimeout(cut);
    },
  };
}
