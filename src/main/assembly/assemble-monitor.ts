import type { AddressInfo } from 'node:net';

import type { AccountsStore } from '../../accounts/accounts-store.ts';
import { createBillingTokenAuthenticator } from '../../accounts/billing-token-authenticator.ts';
import { billingTokenGateLimitsDefault, createBillingTokenGate } from '../../accounts/billing-token-gate.ts';
import type { BillingTokenStore } from '../../accounts/billing-token-store.ts';
import { createBillingTokenUses } from '../../accounts/billing-token-uses.ts';
import { createMonitor, monitorLimitsDefault } from '../../monitor/monitor.ts';
import type { MonitorOptions } from '../../monitor/monitor-options.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/log.ts';
import { compileAddressList } from '../../platform/http/address-list.ts';
import { closeGracefully } from '../../platform/http/close-gracefully.ts';
import { waitFor } from '../../platform/wait-for.ts';
import { createStoreOnDemand } from '../../store/worker/store-on-demand.ts';
import { openAnswerThreads } from '../programs/answer-threads/open-answer-threads.ts';
import { readDatabaseConfig } from '../config/find-config.ts';
import { loadConfig } from '../config/load-config.ts';
import type { Environment } from '../environment.ts';
import { formatUrl, listenError } from '../programs/listen.ts';
import { describeAnswerDatabase, openDatabase } from './open-data-directory.ts';

/** What the monitor itself reads; its answers have connections of their own. */
type TokenReader = Pick<AccountsStore, 'pepper' | 'findBillingTokenByHash' | 'keysVersion'>;

/** The longest time for running answers at shutdown. */
const closeGraceMs = 5000;
/** The limit of the store's health check. */
const healthMsMax = 1500;

export type RunningMonitor = { readonly url: string };

/** Queries a single value. The log has the cause of a failure; the answer only says that there is one. */
async function checkStore(store: TokenReader, logger: Logger): Promise<readonly string[]> {
  try {
    await waitFor(store.keysVersion(), healthMsMax);
    return [];
  } catch (error) {
    logger.warn({ err: error }, 'monitor readiness check failed');
    return ['store: does not answer'];
  }
}

/**
 * Assembles the monitor and begins to serve. Answers are made in separate threads, so that a long one delays neither
 * the ledger nor token look-ups.
 */
export async function assembleMonitor(options: {
  readonly environment: Environment;
  readonly logger: Logger;
  /** Records the last use of tokens. The monitor writes nothing else. */
  readonly uses: Pick<BillingTokenStore, 'noteBillingTokenUse'>;
  readonly clock: Clock;
  readonly opened: AsyncDisposableStack;
}): Promise<RunningMonitor> {
  const { environment, logger, uses, clock, opened } = options;
  const { config } = loadConfig(environment.configPath, environment);
  const tokens = await openReader(options);
  const answers = openAnswerThreads(
    {
      database: describeAnswerDatabase(environment),
      timeZone: config.timeZone ?? 'UTC',
      totalsRow: config.monitor?.totalsRow ?? false,
      detailCallsMax: monitorLimitsDefault.detailCallsMax,
    },
    logger,
  );
  opened.defer(() => answers.close());
  const monitor = createMonitor({
    answers,
    isProxy: compileAddressList(config.trustedProxies ?? []),
    authenticate: createGate({ store: tokens, uses, clock, logger, config }),
    health: () => checkStore(tokens, logger),
    clock,
    logger,
  });
  await monitor.listen({ host: environment.host, port: environment.monitorPort }).catch((error: unknown) => {
    throw listenError(error, 'WEIR_MONITOR_PORT', environment.host, environment.monitorPort);
  });
  opened.defer(() => closeGracefully(monitor, closeGraceMs));
  const address = monitor.server.address() as AddressInfo;
  return { url: formatUrl(address.address, address.port) };
}

/**
 * Opens a read-only connection, which `opened` closes. The embedded database gets it with the first request, because
 * its thread costs 12 MB and the store of this process has shown already that the file can be used.
 */
async function openReader({
  environment,
  logger,
  opened,
}: {
  readonly environment: Environment;
  readonly logger: Logger;
  readonly opened: AsyncDisposableStack;
}): Promise<TokenReader> {
  const { connect, close } = createStoreOnDemand(() =>
    openDatabase(environment, {
      readOnly: true,
      onFailure: (error) => logger.error({ err: error }, 'monitor database worker died'),
    }),
  );
  opened.defer(() => close());
  if (readDatabaseConfig(environment) !== undefined) await connect();
  return {
    pepper: async () => (await connect()).pepper(),
    findBillingTokenByHash: async (hash) => (await connect()).findBillingTokenByHash(hash),
    keysVersion: async () => (await connect()).keysVersion(),
  };
}

/** Authenticates requests and limits their rate. */
function createGate(options: {
  readonly store: TokenReader;
  readonly uses: Pick<BillingTokenStore, 'noteBillingTokenUse'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly config: ReturnType<typeof loadConfig>['config'];
}): MonitorOptions['authenticate'] {
  const { store, uses, clock, logger, config } = options;
  const { requestsPerMinute, wrongTokensPerMinute } = { ...billingTokenGateLimitsDefault, ...config.monitor };
  const noted = createBillingTokenUses({ store: uses, clock, logger });
  return createBillingTokenGate({
    authenticate: createBillingTokenAuthenticator({ store, clock, logger }).authenticate,
    clock,
    limits: { requestsPerMinute, wrongTokensPerMinute },
    onUse: ({ id }) => noted.note(id),
  }).authenticate;
}
