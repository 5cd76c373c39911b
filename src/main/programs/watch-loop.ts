import { join } from 'node:path';

import type { Logger } from '../../platform/log.ts';
import { startLoopWatchdog } from '../../platform/watchdog/loop-watchdog.ts';
import type { Environment } from '../environment.ts';

/** The file that records processes that the watchdog terminated. */
const recordName = 'frozen-loops.jsonl';

/**
 * Watches the event loop of this process; closed by `opened`. Logs how many processes of this data directory the
 * watchdog has terminated.
 */
export function watchLoop({ dataDirectory, watchdogMs, logLevel }: Environment, logger: Logger, opened: AsyncDisposableStack): void {
  const recordPath = join(dataDirectory, recordName);
  const watchdog = startLoopWatchdog({ limitMs: watchdogMs, recordPath, isSilent: logLevel === 'silent' });
  if (watchdog === undefined) return;
  opened.defer(() => watchdog.stop());
  const { restarts } = watchdog.figures();
  if (restarts > 0) logger.warn({ restarts, record: recordPath }, 'processes killed by the watchdog');
}
