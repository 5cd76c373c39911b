import type { Logger } from '../../platform/log.ts';

/** Logs unhandled rejections instead of ending the process, until `opened` is closed. */
export function logUnhandledRejections(logger: Logger, opened: AsyncDisposableStack): void {
  const log = (error: unknown): void => logger.error({ err: error }, 'unhandled promise rejection (bug)');
  process.on('unhandledRejection', log);
  opened.defer(() => void process.off('unhandledRejection', log));
}
