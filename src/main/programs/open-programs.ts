import { type Clock, systemClock } from '../../platform/clock.ts';
import type { LogDestination, Logger } from '../../platform/log.ts';
import { assembleGateway, type RunningGateway } from '../assembly/assemble-gateway.ts';
import type { ConsoleParts, RunningConsole } from '../assembly/assemble-console.ts';
import { assembleMonitor, type RunningMonitor } from '../assembly/assemble-monitor.ts';
import { ensureConfiguredCredentials, type FirstCredentials, makeFirstCredentials } from '../assembly/first-credentials.ts';
import { openDataDirectory } from '../assembly/open-data-directory.ts';
import { openSecrets } from '../egress/open-secrets.ts';
import type { Environment } from '../environment.ts';

export type Parts = { readonly gateway: boolean; readonly monitor: boolean; readonly simulator: boolean; readonly console: boolean };

export type OpenedPrograms = {
  readonly gateway: RunningGateway | undefined;
  readonly monitor: RunningMonitor | undefined;
  readonly console: RunningConsole | undefined;
  readonly credentials: FirstCredentials;
};

/**
 * Opens the data directory and starts the chosen programs in this process. It uses nothing that exists once per process
 * (signals, standard streams, the watchdog), so that several may run in one process. `opened` closes everything that it
 * opens, also if a later step fails.
 */
export async function openPrograms(
  parts: Parts,
  options: {
    readonly environment: Environment;
    readonly logger: Logger;
    readonly logDestination: LogDestination;
    readonly opened: AsyncDisposableStack;
    /** Default: that of the machine. */
    readonly clock?: Clock;
  },
): Promise<OpenedPrograms> {
  const { logger, opened, clock = systemClock } = options;
  const environment = await openSecrets(options.environment, { needs: parts.gateway ? 'keys' : 'others', logger, opened, clock });
  const store = await openDataDirectory({ environment, logger, exclusive: parts.gateway, opened });
  await ensureConfiguredCredentials({ store, environment, clock });
  // The monitor starts first, because a client that waits for the gateway may query the monitor at once.
  const monitor = parts.monitor ? await assembleMonitor({ environment, logger, uses: store, clock, opened }) : undefined;
  const program = parts.simulator ? 'start' : 'gateway';
  const gateway = parts.gateway
    ? await assembleGateway({ ...options, environment, store, clock, withSimulator: parts.simulator, program })
    : undefined;
  const consoleParts = { environment, logger, store, clock, opened, editsConfig: parts.simulator, gateway };
  const console = parts.console ? await openConsole(consoleParts) : undefined;
  return { gateway, monitor, console, credentials: await makeFirstCredentials({ store, environment, clock }) };
}

/** Its modules are loaded only if it is served. */
async function openConsole(parts: ConsoleParts): Promise<RunningConsole | undefined> {
  if (parts.environment.consolePort === undefined) return undefined;
  const { assembleConsole } = await import('../assembly/assemble-console.ts');
  return await assembleConsole(parts);
}
