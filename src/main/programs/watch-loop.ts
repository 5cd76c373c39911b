import { join } from 'node:path';

import type { Logger } from '../../platform/log.ts';
import { startLoopWatchdog } from '../../platform/watchdog/loop-watchdog.ts';
import type { Environment } from '../environment.ts';

/** Where each end of a process is recorded whose event loop stood still. */
const recordName = 'frozen-loops.jsonl';

/** Watches the event loop of this process from now on; closed by `opened`. Says how often a process of this data directory was ended for it. */
export function watchLoop({ dataDirectory, watchdogMs, logLevel }: Environment, logger: Logger, opened: AsyncDisposableStack): void {
  const recordPath = join(dataDirectory, recordName);
  const watchdog = startLoopWatchdog({ limitMs: watchdogMs, recordPath, isSilent: logLevel === 'silent' });
  if (watchdog === undefined) return;
  opened.defer(() => watchdog.stop());
  const { restarts } = watchdog.figures();
  if (restarts > 0) logger.warn({ restarts, record: recordPath }, 'processes killed by the watchdog');
}
