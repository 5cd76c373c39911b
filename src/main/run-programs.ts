import { systemClock } from '../platform/clock.ts';
import { createLogDestination, createLogger, type Logger } from '../platform/log.ts';
import { assembleGateway, type RunningGateway } from './assemble-gateway.ts';
import { assembleMonitor, type RunningMonitor } from './assemble-monitor.ts';
import { ensureFirstCredentials } from './first-credentials.ts';
import type { Environment } from './environment.ts';
import { openDataDirectory } from './open-data-directory.ts';
import { tuneRuntime } from './tune-runtime.ts';
import { describeWelcome } from './welcome.ts';

const signalEchoMs = 500;

export type Parts = { readonly gateway: boolean; readonly monitor: boolean; readonly simulator: boolean };

/** Resolves with the first signal that asks the process to end; a second one ends it at once, which the journal survives. */
function waitForStopSignal(logger: Logger): Promise<void> {
  return new Promise((resolve) => {
    let askedMs: number | undefined;
    const onSignal = (signal: NodeJS.Signals): void => {
      const nowMs = systemClock.monotonicMs();
      // A terminal sends Ctrl-C to the whole group and npm passes it on again: the echo is no second wish.
      if (askedMs !== undefined && nowMs - askedMs > signalEchoMs) process.exit(130);
      if (askedMs !== undefined) return;
      askedMs = nowMs;
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
  if (parts.gateway) tuneRuntime();
  const logDestination = createLogDestination({ isTerminal: process.stderr.isTTY });
  const logger = createLogger({ level: environment.logLevel, destination: logDestination });
  await using opened = new AsyncDisposableStack();
  const stopSignal = waitForStopSignal(logger);
  process.on('unhandledRejection', (error) => logger.error({ err: error }, 'a failure that nobody waited for: a defect'));

  const store = await openDataDirectory({ environment, logger, exclusive: parts.gateway, opened });
  const credentials = await ensureFirstCredentials({ store, environment, clock: systemClock });
  let gateway: RunningGateway | undefined;
  let monitor: RunningMonitor | undefined;
  if (parts.gateway)
    gateway = await assembleGateway({
      environment,
      logger,
      logDestination,
      store,
      clock: systemClock,
      withSimulator: parts.simulator,
      opened,
    });
  if (parts.monitor) monitor = await assembleMonitor({ environment, logger, clock: systemClock, opened });

  console.log(
    describeWelcome({
      gatewayUrl: gateway?.url,
      monitorUrl: monitor?.url,
      metricsUrl: gateway?.metricsUrl,
      newApiKey: credentials.newApiKey,
      newBillingToken: credentials.newBillingToken,
      source: gateway?.source,
      examples: gateway?.examples ?? {},
    }),
  );
  process.on('SIGHUP', () => gateway?.reload());
  await stopSignal;
  await gateway?.drain();
}
