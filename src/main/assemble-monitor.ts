import type { AddressInfo } from 'node:net';

import { createBillingTokenAuthenticator } from '../accounts/billing-token-authenticator.ts';
import { createStatistics } from '../billing/statistics/statistics.ts';
import { createMonitor } from '../monitor/monitor.ts';
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/log.ts';
import { openSqliteStore } from '../store/sqlite/open-sqlite-store.ts';
import { loadConfig } from './config/load-config.ts';
import type { Environment } from './environment.ts';
import { formatUrl, listenError } from './listen.ts';
import { databasePath } from './open-data-directory.ts';

/** How long a token look-up may take before the monitor answers 503. */
const authenticateMsMax = 4000;

export type RunningMonitor = { readonly url: string };

/** Wires the monitor on a read-only connection of its own, so that a long question never holds up the ledger, and begins to serve. */
export async function assembleMonitor(options: {
  readonly environment: Environment;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly opened: AsyncDisposableStack;
}): Promise<RunningMonitor> {
  const { environment, logger, clock, opened } = options;
  const { config } = loadConfig(environment.configPath, environment.variable);
  const store = await openSqliteStore({
    path: databasePath(environment.dataDirectory),
    readOnly: true,
    onFailure: (error) => logger.error({ err: error }, 'the database worker of the monitor died'),
  });
  opened.defer(() => store.close());
  const tokens = createBillingTokenAuthenticator({ store, clock, logger });
  const monitor = createMonitor({
    statistics: createStatistics({ store, timeZone: config.timeZone ?? 'UTC' }),
    authenticate: (token) => tokens.authenticate(token, AbortSignal.timeout(authenticateMsMax)),
    clock,
    logger,
  });
  await monitor.listen({ host: environment.host, port: environment.monitorPort }).catch((error: unknown) => {
    throw listenError(error, 'WEIR_MONITOR_PORT', environment.host, environment.monitorPort);
  });
  opened.defer(() => monitor.close());
  const address = monitor.server.address() as AddressInfo;
  return { url: formatUrl(address.address, address.port) };
}
