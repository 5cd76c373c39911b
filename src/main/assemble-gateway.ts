import { join } from 'node:path';

import { createKeyDirectory } from '../accounts/key-directory.ts';
import { createJournal } from '../billing/journal/create-journal.ts';
import { createLostCallSettler } from '../billing/journal/settle-lost-call.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { createHealth } from '../gateway/health/create-health.ts';
import { defaultMediaBytesMax } from '../gateway/limits.ts';
import { createLimiter } from '../gateway/limits/limiter.ts';
import { createGatekeeper, type Gatekeeper } from '../gateway/overload/gatekeeper.ts';
import { createLoopGauge } from '../gateway/overload/loop-gauge.ts';
import { createMemoryGauge } from '../gateway/overload/memory-gauge.ts';
import { createReplyOwners } from '../gateway/reply-owners.ts';
import type { RunningCall } from '../gateway/retry/call-attempts.ts';
import { createRetryBudget } from '../gateway/retry/retry-budget.ts';
import { addGatewayGauges } from '../gateway/telemetry/gateway-gauges.ts';
import { createGatewayServer } from '../gateway/server.ts';
import type { Clock } from '../platform/clock.ts';
import { createDeadlines } from '../platform/http/deadlines.ts';
import { fetchMedia } from '../platform/http/fetch-media.ts';
import { createIds } from '../platform/ids.ts';
import type { LogDestination, Logger } from '../platform/log.ts';
import type { MetricRegistry } from '../platform/metrics/metric-registry.ts';
import type { Store } from '../store/store.ts';
import { findUpstreams, type UpstreamSource } from './config/build-settings.ts';
import type { Config, ConfiguredUpstream } from './config/config-schema.ts';
import { createLiveSettings, type LiveSettings } from './config/live-settings.ts';
import { loadConfig } from './config/load-config.ts';
import type { Environment } from './environment.ts';
import { formatUrl, listenError } from './listen.ts';
import { openProofVault } from './open-proof-vault.ts';
import { startSimulatedUpstreams } from './start-simulated-upstreams.ts';
import { assembleTelemetry } from './telemetry/assemble-telemetry.ts';
import { serveMetrics } from './telemetry/serve-metrics.ts';
import type { Welcome } from './welcome.ts';
import type { RoutingTable } from '../gateway/routing/routing-table.ts';
import type { DialectId } from '../dialects/chat-dialect.ts';

export type RunningGateway = {
  readonly url: string;
  /** Where the metrics are; absent where they are not served. */
  readonly metricsUrl: string | undefined;
  readonly source: UpstreamSource;
  readonly examples: Welcome['examples'];
  readonly reload: () => void;
  /** Lets running calls finish, and ships what they used. */
  readonly drain: () => Promise<void>;
};

const configPollMs = 1000;
const deadlineTickMs = 100;
const keysRefreshMs = 1000;
const shipAtShutdownMs = 10_000;
/** How long a client waits for one file that its request names by address. */
const mediaTimeoutMs = 20_000;
const defaultDrainMs = 30_000;

/** Starts the simulated vendors when no upstream is configured anywhere; undefined when there is one. */
async function startSimulatedIfNeeded(
  environment: Environment,
  opened: AsyncDisposableStack,
): Promise<Readonly<Record<string, ConfiguredUpstream>> | undefined> {
  const { config } = loadConfig(environment.configPath, environment.variable);
  return findUpstreams(config, environment.variable, undefined) === undefined ? await startSimulatedUpstreams(opened) : undefined;
}

async function openJournal(options: {
  readonly environment: Environment;
  readonly store: Store;
  readonly live: LiveSettings;
  readonly clock: Clock;
  readonly logger: Logger;
}) {
  const { environment, store, live, clock, logger } = options;
  const { journal, recovered } = await createJournal({
    directory: join(environment.dataDirectory, 'journal'),
    store,
    clock,
    logger,
    settleLost: createLostCallSettler({ priceBook: live.settings().routing.priceBook }),
  });
  if (recovered.lostAnswered + recovered.lostUnanswered + recovered.lostFailed > 0)
    logger.warn(recovered, 'the last run did not end properly: its calls were settled from the journal');
  return journal;
}

/** Wires the gateway and begins to serve. Everything it opens is closed by `opened`. */
export async function assembleGateway(options: {
  readonly environment: Environment;
  readonly logger: Logger;
  readonly logDestination: LogDestination;
  readonly store: Store;
  readonly clock: Clock;
  readonly withSimulator: boolean;
  readonly opened: AsyncDisposableStack;
}): Promise<RunningGateway> {
  const { environment, logger, store, clock, opened } = options;
  const simulated = options.withSimulator ? await startSimulatedIfNeeded(environment, opened) : undefined;
  const live = createLiveSettings({
    path: environment.configPath,
    variable: environment.variable,
    simulated,
    clock,
    logger,
    pollMs: configPollMs,
  });
  opened.defer(() => live.close());
  const { telemetry, registry } = assembleTelemetry({ ...options, routing: () => live.settings().routing });
  const journal = await openJournal({ environment, store, live, clock, logger });
  opened.defer(() => journal.close());
  const keys = createKeyDirectory({ store, clock, refreshMs: keysRefreshMs, logger });
  await keys.start();
  opened.defer(() => keys.close());
  const deadlines = createDeadlines<RunningCall>({ clock, tickMs: deadlineTickMs });
  opened.defer(() => deadlines.close());

  const proofVault = openProofVault({ environment, store, clock, logger });
  opened.defer(() => proofVault.close());

  const gateway: Gateway = {
    callers: { find: keys.find, resolve: (secret) => keys.resolve(secret, AbortSignal.timeout(2000)) },
    journal,
    limiter: createLimiter({ clock }),
    health: createHealth({ clock, random: Math.random, logger }),
    retryBudget: createRetryBudget(),
    random: Math.random,
    gatekeeper: openGatekeeper(live, clock, logger, opened),
    replyOwners: createReplyOwners({ store }),
    proofVault,
    fetchMedia: (url) => fetchNamedMedia(url, live.config().media),
    settings: live.settings,
    clock,
    newId: createIds(clock),
    logger,
    telemetry,
    deadlines,
  };
  const notReady = (): readonly string[] => {
    const reason = journal.unavailableReason();
    return reason === undefined ? [] : [`journal: ${reason}`];
  };
  const server = createGatewayServer({ gateway, notReady, startedAtMs: clock.nowMs() });
  const address = await server.listen(environment.host, environment.port).catch((error: unknown) => {
    throw listenError(error, 'WEIR_PORT', environment.host, environment.port);
  });
  opened.defer(() => server.drain(0));
  if (registry !== undefined) addGatewayGauges(registry, { journal, health: gateway.health });
  const metricsUrl = await openMetrics(registry, options);
  return {
    url: formatUrl(address.host, address.port),
    metricsUrl,
    source: live.source(),
    examples: chooseExamples(live.settings().routing),
    reload: live.reload,
    drain: async () => {
      await server.drain(live.config().timeouts?.drainMs ?? defaultDrainMs);
      await journal.drain(AbortSignal.timeout(shipAtShutdownMs)).catch((error: unknown) => {
        logger.warn({ err: error }, 'not everything could be shipped before the end; the journal keeps the rest for the next start');
      });
    },
  };
}

function openGatekeeper(live: LiveSettings, clock: Clock, logger: Logger, opened: AsyncDisposableStack): Gatekeeper {
  const gatekeeper = createGatekeeper({
    settings: () => live.settings().overload,
    clock,
    logger,
    readLoop: createLoopGauge(),
    readMemoryShare: createMemoryGauge(),
  });
  opened.defer(() => gatekeeper.close());
  return gatekeeper;
}

/** Serves the metrics where they have an address. */
async function openMetrics(
  registry: MetricRegistry | undefined,
  { environment, logger, opened }: { readonly environment: Environment; readonly logger: Logger; readonly opened: AsyncDisposableStack },
): Promise<string | undefined> {
  const { metrics } = environment;
  if (registry === undefined || metrics === undefined) return undefined;
  const server = await serveMetrics({ ...metrics, logger, snapshots: () => Promise.resolve([registry.snapshot()]) });
  opened.defer(() => server.close());
  return server.url;
}

function fetchNamedMedia(url: string, configured: Config['media']): ReturnType<typeof fetchMedia> {
  return fetchMedia(url, {
    bytesMax: configured?.fileBytesMax ?? defaultMediaBytesMax,
    timeoutMs: mediaTimeoutMs,
    signal: AbortSignal.timeout(mediaTimeoutMs + 1000),
    allowPrivateAddresses: configured?.privateAddresses ?? false,
  });
}

/** A served model for each interface: a well-known one where it is served, else the first of the list. */
function chooseExamples(routing: RoutingTable): Welcome['examples'] {
  const choose = (dialect: DialectId, preferred: string): string | undefined =>
    [preferred, ...routing.models.map((model) => model.id)].find((model) =>
      routing.targetsOf(model).some((target) => target.upstream.dialects.includes(dialect)),
    );
  const messages = choose('anthropic-messages', 'claude-sonnet-4-5');
  const chat = choose('openai-chat', 'gpt-5-mini');
  const generateContent = choose('gemini-generate-content', 'gemini-2.5-flash');
  return {
    ...(messages === undefined ? {} : { messages }),
    ...(chat === undefined ? {} : { chat }),
    ...(generateContent === undefined ? {} : { generateContent }),
  };
}
