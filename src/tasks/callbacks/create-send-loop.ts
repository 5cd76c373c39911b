/** Sends jobs that several processes share through a store. */
export type SendLoop = {
  /** Leases and processes the due jobs, once. Resolves with their number. */
  readonly round: () => Promise<number>;
  /** Begins to send, until it is closed. */
  readonly start: () => void;
  /** Aborts running attempts. They are repeated after the lease, under the same id. */
  readonly close: () => Promise<void>;
};

export type SendLoopOptions<Job> = {
  /** Leases due jobs, at most `limit`. */
  readonly claim: (limit: number) => Promise<readonly Job[]>;
  /** Makes one attempt and records the outcome. Never rejects. */
  readonly send: (job: Job, stopped: AbortSignal) => Promise<void>;
  /** Called before each claim; deletes what is no longer needed. */
  readonly sweep?: (stopped: AbortSignal) => Promise<void>;
  /** Called if claiming or sweeping fails; the loop goes on. */
  readonly onFailure: (error: unknown) => void;
  /** Time between two queries of the store. */
  readonly pollMs: number;
  /** The most attempts at a time. */
  readonly inFlightMax: number;
};

/** Creates a loop that takes due jobs from a store as long as there is room for their attempts. */
export function createSendLoop<Job>({ claim, send, sweep, onFailure, pollMs, inFlightMax }: SendLoopOptions<Job>): SendLoop {
  const end = new AbortController();
  const running = new Set<Promise<void>>();
  let timer: NodeJS.Timeout | undefined;
  const take = async (): Promise<readonly Promise<void>[]> => {
    const limit = inFlightMax - running.size;
    if (limit <= 0) return [];
    return (await claim(limit)).map((job) => {
      const work = send(job, end.signal).finally(() => running.delete(work));
      running.add(work);
      return work;
    });
  };
  const look = async (): Promise<void> => {
    let taken = 0;
    try {
      await sweep?.(end.signal);
      taken = (await take()).length;
    } catch (error) {
      onFailure(error);
    }
    // There may be more due jobs.
    if (!end.signal.aborted) timer = setTimeout(() => void (looking = look()), taken === 0 ? pollMs : 10).unref();
  };
  let looking: Promise<void> = Promise.resolve();
  return {
    round: async () => {
      await sweep?.(end.signal);
      const taken = await take();
      await Promise.all(taken);
      return taken.length;
    },
    start: () => void (looking = look()),
    close: async () => {
      end.abort(new Error('the sender was closed'));
      clearTimeout(timer);
      await looking;
      await Promise.all(running);
    },
  };
}
