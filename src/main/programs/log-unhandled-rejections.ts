import type { Logger } from '../../platform/log.ts';

/** A failure that nobody waits for is logged and ends nothing, until `opened` is closed. */
export function logUnhandledRejections(logger: Logger, opened: AsyncDisposableStack): void {
  const log = (error: unknown): void => logger.error({ err: error }, 'unhandled promise rejection (bug)');
  process.on('unhandledRejection', log);
  opened.defer(() => void process.off('unhandledRejection', log));
}
