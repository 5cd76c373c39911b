import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/log.ts';
import { waitFor } from '../../platform/wait-for.ts';

/** Notes when sessions and admin tokens were last used. */
export type LastUses = {
  /** Writes the time of now for an id, at most once a minute for each, without delaying the caller. */
  readonly note: (id: string, write: (usedAtMs: number) => Promise<void>) => void;
};

const everyMs = 60_000;
const writeTimeoutMs = 5000;
const notedMax = 10_000;

/** If the store cannot be written to, only the note is lost; one warning is logged for an outage. */
export function createLastUses({ clock, logger }: { readonly clock: Clock; readonly logger: Logger }): LastUses {
  const notedAtMs = new Map<string, number>();
  let isReported = false;
  return {
    note: (id, write) => {
      const nowMs = clock.monotonicMs();
      if (nowMs - (notedAtMs.get(id) ?? -Infinity) < everyMs) return;
      if (notedAtMs.size >= notedMax) notedAtMs.clear();
      notedAtMs.set(id, nowMs);
      waitFor(write(clock.nowMs()), writeTimeoutMs).then(
        () => {
          isReported = false;
        },
        (error: unknown) => {
          if (!isReported) logger.warn({ err: error }, 'recording the last use of a sign-in failed');
          isReported = true;
        },
      );
    },
  };
}
