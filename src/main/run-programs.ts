import { systemClock } from '../platform/clock.ts';
import { createLogger, type Logger } from '../platform/log.ts';
import { assembleGateway, type RunningGateway } from './assemble-gateway.ts';
import { assembleMonitor, type RunningMonitor } from './assemble-monitor.ts';
import { ensureFirstCredentials } from './first-credentials.ts';
import type { Environment } from './environment.ts';
import { openDataDirectory } from './open-data-directory.ts';
import { describeWelcome } from './welcome.ts';

export type Parts = { readonly gateway: boolean; readonly monitor: boolean; readonly simulator: boolean };

/** Resolves with the first signal that asks the process to end; a second one ends it at once, which the journal survives. */
function waitForStopSignal(logger: Logger): Promise<void> {
  return new Promise((resolve) => {
    let asked = false;
    const onSignal = (signal: NodeJS.Signals): void => {
      if (asked) process.exit(130);
      asked = true;
      logger.info({ signal }, 'shutting down: running calls may finish; the signal again ends them');
      resolve();
    };
    process.on('SIGINT', onSignal);
    process.on('SIGTERM', onSignal);
  });
}

/**
 * Starts the chosen programs in this process, prints what a user needs, serves until a signal comes, drains and returns. What was opened is closed
 * in the opposite order, also when a later step of the start fails.
 */
export async function runPrograms(environment: Environment, parts: Parts): Promise<void> {
  const logger = createLogger({ level: environment.logLevel });
  await using opened = new AsyncDisposableStack();
  const stopSignal = waitForStopSignal(logger);

  const store = await openDataDirectory({ environment, logger, exclusive: parts.gateway, opened });
  const credentials = await ensureFirstCredentials({ store, environment, clock: systemClock });
  let gateway: RunningGateway | undefined;
  let monitor: RunningMonitor | undefined;
  if (parts.gateway)
    gateway = await assembleGateway({ environment, logger, store, clock: systemClock, withSimulator: parts.simulator, opened });
  if (parts.monitor) monitor = await assembleMonitor({ environment, logger, clock: systemClock, opened });

  console.log(
    describeWelcome({
      gatewayUrl: gateway?.url,
      monitorUrl: monitor?.url,
      newApiKey: credentials.newApiKey,
      newBillingToken: credentials.newBillingToken,
      source: gateway?.source,
    }),
  );
  if (gateway !== undefined) process.on('SIGHUP', gateway.reload);
  await stopSignal;
  await gateway?.drain();
}
