import type { TaskParts } from './task-parts.ts';
import { rewriteForMs, rewriteMs } from './timings.ts';

/**
 * Repeats a write until the store accepts it, so that a short outage of the database loses no result of an upstream.
 * Writes of tasks compare before they set, so that a write with a lost answer can be repeated.
 * @throws the last error of the store, if the signal aborts or the time is over
 */
export async function repeatWrite<Result>(
  { wait, clock, logger }: Pick<TaskParts, 'wait' | 'clock' | 'logger'>,
  task: string,
  signal: AbortSignal,
  write: () => Promise<Result>,
): Promise<Result> {
  const untilMs = clock.monotonicMs() + rewriteForMs;
  for (let pauseMs = rewriteMs.first; ; pauseMs = Math.min(2 * pauseMs, rewriteMs.max)) {
    try {
      return await write();
    } catch (error) {
      if (pauseMs === rewriteMs.first) logger.warn({ task, err: error }, 'writing a video to the store failed');
      if (signal.aborted || clock.monotonicMs() >= untilMs) throw error;
      await wait(pauseMs, signal);
    }
  }
}
