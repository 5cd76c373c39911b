import type { AddressInfo } from 'node:net';

import type { AccountsStore } from '../accounts/accounts-store.ts';
import { createBillingTokenAuthenticator } from '../accounts/billing-token-authenticator.ts';
import { createStatistics } from '../billing/statistics/statistics.ts';
import { closeMonitor } from '../monitor/close-monitor.ts';
import { createMonitor } from '../monitor/monitor.ts';
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/log.ts';
import { waitFor } from '../platform/wait-for.ts';
import { loadConfig } from './config/load-config.ts';
import type { Environment } from './environment.ts';
import { formatUrl, listenError } from './listen.ts';
import { openDatabase } from './open-data-directory.ts';

/** How long running answers may go on at shutdown. */
const closeGraceMs = 5000;
/** How long the store may take to prove that it answers. */
const healthMsMax = 1500;

export type RunningMonitor = { readonly url: string };

/** Asks for a single value. An operator finds the cause in the log; whoever probes learns only that there is one. */
async function checkStore(store: AccountsStore, logger: Logger): Promise<readonly string[]> {
  try {
    await waitFor(store.keysVersion(), healthMsMax);
    return [];
  } catch (error) {
    logger.warn({ err: error }, 'the monitor is not ready: its store does not answer');
    return ['store: does not answer'];
  }
}

/** Wires the monitor on a read-only connection of its own, so that a long question never holds up the ledger, and begins to serve. */
export async function assembleMonitor(options: {
  readonly environment: Environment;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly opened: AsyncDisposableStack;
}): Promise<RunningMonitor> {
  const { environment, logger, clock, opened } = options;
  const { config } = loadConfig(environment.configPath, environment.variable);
  const store = await openDatabase(environment, {
    readOnly: true,
    onFailure: (error) => logger.error({ err: error }, 'the database worker of the monitor died'),
  });
  opened.defer(() => store.close());
  const tokens = createBillingTokenAuthenticator({ store, clock, logger });
  const monitor = createMonitor({
    statistics: createStatistics({ store, timeZone: config.timeZone ?? 'UTC' }),
    authenticate: tokens.authenticate,
    health: () => checkStore(store, logger),
    clock,
    logger,
  });
  await monitor.listen({ host: environment.host, port: environment.monitorPort }).catch((error: unknown) => {
    throw listenError(error, 'WEIR_MONITOR_PORT', environment.host, environment.monitorPort);
  });
  opened.defer(() => closeMonitor(monitor, closeGraceMs));
  const address = monitor.server.address() as AddressInfo;
  return { url: formatUrl(address.address, address.port) };
}
