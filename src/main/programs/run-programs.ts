import { setTimeout as delay } from 'node:timers/promises';

import { createLogDestination, createLogger, type Logger } from '../../platform/log.ts';
import type { RunningGateway } from '../assembly/assemble-gateway.ts';
import { delayAfter } from './drain-times.ts';
import type { Environment } from '../environment.ts';
import { logUnhandledRejections } from './log-unhandled-rejections.ts';
import { openPrograms, type Parts } from './open-programs.ts';
import { tuneRuntime } from './tune-runtime.ts';
import { watchLoop } from './watch-loop.ts';
import { waitForStopSignal } from './wait-for-stop-signal.ts';
import { describeWelcome } from './welcome.ts';
import { createSlotRecovery, firstSlot, type SlotRecovery } from './workers/journal-slots.ts';

/**
 * Starts the chosen programs in this process, prints the welcome, serves until a signal, drains and returns. Everything
 * is closed in the opposite order, also if a later step of the start fails.
 */
export async function runPrograms(environment: Environment, parts: Parts): Promise<void> {
  if (parts.gateway) tuneRuntime();
  const logDestination = createLogDestination({ isTerminal: process.stderr.isTTY });
  const logger = createLogger({ level: environment.logLevel, destination: logDestination });
  await using opened = new AsyncDisposableStack();
  const stopSignal = waitForStopSignal(logger, opened);
  logUnhandledRejections(logger, opened);

  const {
    gateway,
    monitor,
    console: adminConsole,
    credentials,
  } = await openPrograms(parts, { environment, logger, logDestination, opened });
  watchLoop(environment, logger, opened);
  // Handlers are set before the ready line, because a signal before them would end the process at once.
  process.on('SIGHUP', () => gateway?.reload());
  console.log(
    describeWelcome({
      gatewayUrl: gateway?.url,
      monitorUrl: monitor?.url,
      metricsUrl: gateway?.metricsUrl,
      consoleUrl: adminConsole?.url,
      consoleLink: adminConsole?.link,
      newApiKey: credentials.newApiKey,
      newBillingToken: credentials.newBillingToken,
      source: gateway?.source,
      examples: gateway?.examples ?? {},
    }),
  );
  const recovery = gateway === undefined ? undefined : recoverLeftSlots(environment.dataDirectory, gateway, logger);
  const signal = await stopSignal;
  recovery?.close();
  if (gateway !== undefined) await end(gateway, signal);
}

/** Recovers the journals of workers of an earlier start, because this one may have fewer processes. */
function recoverLeftSlots(dataDirectory: string, gateway: RunningGateway, logger: Logger): SlotRecovery {
  return createSlotRecovery({ dataDirectory, taken: () => new Set([firstSlot]), recover: gateway.recoverSlot, logger });
}

async function end(gateway: RunningGateway, signal: NodeJS.Signals): Promise<void> {
  const times = gateway.leave();
  const delayMs = delayAfter(signal, times);
  if (delayMs > 0) await delay(delayMs);
  await gateway.drain({ graceMs: times.graceMs, idle: delayMs > 0 ? 'close' : 'sweep' });
}
