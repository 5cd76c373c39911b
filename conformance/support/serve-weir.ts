import { rmSync } from 'node:fs';

import { readEnvironment } from '../../src/main/environment.ts';
import { openPrograms } from '../../src/main/programs/open-programs.ts';
import type { Clock } from '../../src/platform/clock.ts';
import { createLogger } from '../../src/platform/log.ts';
import { prepareWeir, removal, type ServedWeir, type ServeWeirOptions } from './start-weir.ts';

/**
 * Starts a real Weir on free ports in the test's own process: the same as `weir start`, without the parts that exist
 * once per process (signals, standard streams, the watchdog of the event loop). That costs a fifth of a process. Suites
 * about a process, its signals, its memory or its times use `startWeir`.
 * @param options `monitor: false` omits the monitor of `start`; `clock` is the time of its programs
 */
export async function serveWeir(
  options: ServeWeirOptions & { readonly monitor?: boolean; readonly clock?: Clock } = {},
): Promise<ServedWeir> {
  const { dataDirectory, apiKey, billingToken, environment: variables } = prepareWeir(options);
  const environment = readEnvironment(variables);
  let logged = '';
  const logDestination = { write: (lines: string) => void (logged += lines) };
  const logger = createLogger({ level: environment.logLevel, destination: logDestination });
  const opened = new AsyncDisposableStack();
  const dispose = async (): Promise<void> => {
    await opened.disposeAsync();
    if (options.dataDirectory === undefined) rmSync(dataDirectory, removal);
  };
  const { command = 'start' } = options;
  const parts = {
    gateway: command !== 'monitor' && command !== 'console',
    monitor: (command === 'start' || command === 'monitor') && options.monitor !== false,
    simulator: command === 'start',
    console: command === 'start' || command === 'console',
  };
  try {
    const { gateway, monitor, console } = await openPrograms(parts, {
      environment,
      logger,
      logDestination,
      opened,
      ...(options.clock !== undefined && { clock: options.clock }),
    });
    return {
      gatewayUrl: gateway?.url ?? '',
      monitorUrl: monitor?.url ?? '',
      consoleUrl: console?.url ?? '',
      consoleLink: console?.link ?? '',
      metricsUrl: gateway?.metricsUrl ?? '',
      apiKey,
      billingToken,
      dataDirectory,
      output: () => logged,
      [Symbol.asyncDispose]: dispose,
    };
  } catch (error) {
    await dispose();
    throw error;
  }
}
