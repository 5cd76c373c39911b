import type { TaskParts } from './task-parts.ts';
import { rewriteForMs, rewriteMs } from './timings.ts';

/**
 * Writes until the store takes it: what an upstream has done is not lost because a database is away for a moment. The writes of tasks compare before they set, so that one
 * whose answer was lost can be repeated.
 * @throws what the store threw last, when the signal aborts or the time for it has passed
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
      if (pauseMs === rewriteMs.first)
        logger.warn({ task, err: error }, 'the store did not take what became of a video; it is tried again');
      if (signal.aborted || clock.monotonicMs() >= untilMs) throw error;
      await wait(pauseMs, signal);
    }
  }
}
