import { systemClock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/log.ts';

const signalEchoMs = 500;

/**
 * Resolves with the first signal that stops the process; a second one ends it at once, which the journal survives.
 * `opened` ends the wait.
 */
export function waitForStopSignal(logger: Logger, opened: AsyncDisposableStack): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let askedMs: number | undefined;
    const onSignal = (signal: NodeJS.Signals): void => {
      const nowMs = systemClock.monotonicMs();
      // A terminal sends Ctrl-C to the whole group, and npm forwards it again. This echo does not count as a second
      // signal.
      if (askedMs !== undefined && nowMs - askedMs > signalEchoMs) process.exit(130);
      if (askedMs !== undefined) return;
      askedMs = nowMs;
      logger.info({ signal }, 'shutdown started');
      resolve(signal);
    };
    process.on('SIGINT', onSignal);
    process.on('SIGTERM', onSignal);
    opened.defer(() => void process.off('SIGINT', onSignal).off('SIGTERM', onSignal));
  });
}
