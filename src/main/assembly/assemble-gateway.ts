import type { Socket } from 'node:net';
import { join } from 'node:path';

import { createSpendingReader } from '../../billing/credits/spending-overview.ts';
import { startCallFollower } from '../../billing/calls/call-follower.ts';
import { createReceiptFinder } from '../../billing/receipts/find-receipt.ts';
import { createJournal } from '../../billing/journal/create-journal.ts';
import type { CreditDesk } from '../../billing/credits/credit-desk.ts';
import type { Journal } from '../../billing/journal/journal.ts';
import { createLostCallSettler, type LostCallSettler } from '../../billing/journal/settle-lost-call.ts';
import type { Gateway } from '../../gateway/endpoints/gateway.ts';
import { createHealth } from '../../gateway/attempts/health/create-health.ts';
import { defaultMediaBytesMax } from '../../gateway/settings/limits.ts';
import type { DrainPlan } from '../../gateway/server/drain.ts';
import { createLimiter, type SharedLimiter } from '../../gateway/admission/limits/limiter.ts';
import { createGatekeeper, type Gatekeeper } from '../../gateway/admission/overload/gatekeeper.ts';
import { createLoopGauge, createMemoryGauge } from '../../gateway/admission/overload/process-watch.ts';
import { createReplyOwners } from '../../gateway/endpoints/chat/responses/reply-owners.ts';
import { createSchemaChecker } from '../../gateway/endpoints/chat/schema-check/schema-checker.ts';
import type { Telemetry } from '../../gateway/telemetry/telemetry.ts';
import type { RunningCall } from '../../gateway/attempts/services.ts';
import { createRetryBudget } from '../../gateway/attempts/retry/retry-budget.ts';
import { createGatewayServer, type GatewayServer } from '../../gateway/server/gateway-server.ts';
import type { Clock } from '../../platform/clock.ts';
import { DrainSlots } from '../../gateway/attempts/exchange/client-disconnect.ts';
import { checkIntervalMs, createDeadlines } from '../../platform/http/deadlines.ts';
import { fetchMedia } from '../../platform/http/fetch-media.ts';
import { createIds } from '../../platform/ids.ts';
import type { LogDestination, Logger } from '../../platform/log.ts';
import { createMediaMeter } from '../../platform/media/media-meter.ts';
import type { MetricRegistry } from '../../platform/metrics/metric-registry.ts';
import type { MetricsSnapshot } from '../../platform/metrics/metrics-snapshot.ts';
import type { Store } from '../../store/store.ts';
import { findUpstreams, type UpstreamSource } from '../config/build-settings.ts';
import type { Config } from '../config/config-schema.ts';
import { createLiveSettings, type LiveSettings } from '../config/live-settings.ts';
import { type ConfigFiles, loadConfig } from '../config/load-config.ts';
import { type DrainTimes, readDrainTimes } from '../programs/drain-times.ts';
import type { Environment } from '../environment.ts';
import { formatUrl, listenError } from '../programs/listen.ts';
import { watchRefusals } from '../../alerts/watch-refusals.ts';
import type { BookVerifier } from '../../billing/credits/book-verifier.ts';
import { openAlerts } from './alerts/open-alerts.ts';
import { lendCallers } from './control/lend-callers.ts';
import { type ControlledSettings, controlSettings, openControl } from './control/open-control.ts';
import { openCallers } from './open-callers.ts';
import { openAuditSinks } from './audit/open-audit-sinks.ts';
import { openContent } from './content/open-content.ts';
import { openCallbacks } from './open-callbacks.ts';
import { openCredits, readNodeId, storeOfNode } from './open-credits.ts';
import { openIdempotency } from './open-idempotency.ts';
import { keepStatisticsDays } from './keep-statistics-days.ts';
import { openStoredObjects } from './open-stored-objects.ts';
import { openFilesAndTools } from './open-files-and-tools.ts';
import { type OpenedLayers, openLayers } from './open-layers.ts';
import { openPrices } from './open-prices.ts';
import { createDocumentReader } from '../../gateway/endpoints/chat/translate/read-documents.ts';
import { createCompactionSealer } from '../../gateway/endpoints/chat/compaction-summaries.ts';
import { loadStoreKey } from './load-store-key.ts';
import { openMedia } from './open-media.ts';
import { openProofVault } from './open-proof-vault.ts';
import type { openVideos } from './open-videos.ts';
import { type Simulated, startSimulatedUpstreams } from '../programs/start-simulated-upstreams.ts';
import { addAllGauges } from './telemetry/credential-metrics.ts';
import { assembleTelemetry } from './telemetry/assemble-telemetry.ts';
import { serveMetrics } from './telemetry/serve-metrics.ts';
import { withArchivedCalls } from './run-archiving.ts';
import type { Welcome } from '../programs/welcome.ts';
import { firstSlot, recoverSlot } from '../programs/workers/journal-slots.ts';
import type { RoutingTable } from '../../gateway/attempts/routing/routing-table.ts';
import type { DialectId } from '../../dialects/dialect-id.ts';

export type RunningGateway = {
  readonly url: string;
  /** The address of the metrics; undefined if they are not served. */
  readonly metricsUrl: string | undefined;
  readonly source: UpstreamSource;
  readonly examples: Welcome['examples'];
  readonly reload: () => void;
  /** Looks at once for work that a console has begun. */
  readonly wakeOperations: () => void;
  /**
   * Reports not ready from now on, and asks clients to close their connections. Returns how long the shutdown may
   * take.
   */
  readonly leave: () => DrainTimes;
  /** Waits for running calls, and ships their journal. */
  readonly drain: (plan: DrainPlan) => Promise<void>;
  /** Ships the journal, so that other processes find its rows in the store. */
  readonly shipJournal: () => Promise<void>;
  readonly writeProofs: () => Promise<void>;
  /** See recoverSlot. */
  readonly recoverSlot: (slot: string) => Promise<boolean>;
  /** The current metrics; undefined if they are not served. */
  readonly readMetrics: () => MetricsSnapshot | undefined;
};

/** The parts that differ if a gateway is one of several workers. */
export type WorkerParts = {
  readonly journalSlot: string;
  readonly limiter: SharedLimiter;
  readonly lastGood: ConfigFiles | undefined;
  readonly onConfigInForce: (files: ConfigFiles) => void;
  /** The source of connections, and their address for clients. */
  readonly connections: { readonly url: string; readonly deliver: (take: (socket: Socket) => void) => void };
};

const configPollMs = 1000;
/** Also the longest time that a starting worker waits for recovered calls. */
const shipMsMax = 5000;
/** The limit for fetching one file whose URL is in a request. */
const mediaTimeoutMs = 20_000;

/** Starts the simulated vendors if no upstream is configured; otherwise undefined. */
async function startSimulatedIfNeeded(environment: Environment, opened: AsyncDisposableStack): Promise<Simulated | undefined> {
  const { config } = loadConfig(environment.configPath, environment);
  return findUpstreams(config, environment.variable, undefined) === undefined ? await startSimulatedUpstreams(opened) : undefined;
}

function createSettler(live: LiveSettings): LostCallSettler {
  return createLostCallSettler({ priceBook: live.settings().routing.priceBook });
}

async function openJournal(options: {
  readonly environment: Environment;
  readonly slot: string;
  readonly store: Store;
  readonly live: LiveSettings;
  readonly clock: Clock;
  readonly logger: Logger;
}) {
  const { environment, slot, store, live, clock, logger } = options;
  const { journal, recovered } = await createJournal({
    directory: join(environment.dataDirectory, slot),
    store,
    clock,
    logger,
    settleLost: createSettler(live),
  });
  if (recovered.lostAnswered + recovered.lostUnanswered + recovered.lostFailed > 0)
    logger.warn(recovered, 'calls of the last run settled from the journal');
  // When the successor of a dead worker is ready, other workers expect its rows in the store. An outage of the store
  // does not prevent the start.
  await shipJournal(journal).catch((error: unknown) => logger.warn({ err: error }, 'shipping recovered calls failed'));
  return journal;
}

/** Opens the journal and the credit desk. From then on the store is written under the name of the journal's node. */
async function openBooks(
  parts: Pick<Parameters<typeof assembleGateway>[0], 'environment' | 'store' | 'clock' | 'logger' | 'worker' | 'opened'> & {
    readonly live: LiveSettings;
    readonly registry: MetricRegistry | undefined;
  },
): Promise<{
  readonly nodeId: string;
  readonly store: Store;
  readonly journal: Awaited<ReturnType<typeof openJournal>>;
  readonly credits: CreditDesk;
  readonly books: BookVerifier['verdict'];
}> {
  const { environment, worker, opened } = parts;
  const slot = worker?.journalSlot ?? firstSlot;
  const nodeId = readNodeId(environment.dataDirectory, slot);
  const store = storeOfNode(parts.store, nodeId);
  const follower = opened.adopt(startCallFollower(parts), (following) => following.close());
  const booking: typeof store.appendEncoded = async (entries, node) => {
    const booked = await store.appendEncoded(entries, node);
    follower.wake();
    return booked;
  };
  const journal = await openJournal({ ...parts, slot, store: { ...store, appendEncoded: booking } });
  opened.defer(() => journal.close());
  const { desk, books } = await openCredits({ ...parts, nodeId, store, journal }, opened);
  return { nodeId, store, journal, credits: desk, books };
}

function openDeadlines(clock: Clock, opened: AsyncDisposableStack): Gateway['deadlines'] {
  const deadlines = createDeadlines<RunningCall>({ clock, tickMs: checkIntervalMs });
  opened.defer(() => deadlines.close());
  return deadlines;
}

/** Loads the configuration with the prices and the layer of the store, and follows its changes. */
async function openLiveSettings(
  options: Parameters<typeof assembleGateway>[0],
  simulated: Simulated | undefined,
): Promise<{ readonly live: ControlledSettings; readonly layers: OpenedLayers }> {
  const { environment, clock, logger, worker, opened } = options;
  const byDefault = options.program === 'start';
  const [prices, layers] = await Promise.all([openPrices(options, opened), openLayers({ ...options, byDefault })]);
  const live = createLiveSettings({
    path: environment.configPath,
    variable: environment.variable,
    secrets: environment.secrets,
    proxies: environment.proxies,
    simulated: simulated?.upstreams,
    clock,
    logger,
    pollMs: configPollMs,
    lastGood: worker?.lastGood ?? (prices.kept === undefined ? undefined : { published: prices.kept }),
    published: prices.published,
    layers,
    onInForce: (files, inForce) => {
      prices.onInForce(files, inForce);
      layers.onInForce(files);
      worker?.onConfigInForce(files);
    },
  });
  opened.defer(() => live.close());
  return { live: controlSettings(live, clock), layers };
}

/** Assembles the gateway and begins to serve. `opened` closes everything that it opens. */
export async function assembleGateway(options: {
  readonly environment: Environment;
  readonly logger: Logger;
  readonly logDestination: LogDestination;
  readonly store: Store;
  readonly clock: Clock;
  readonly withSimulator: boolean;
  readonly program: Parameters<typeof readDrainTimes>[1];
  readonly worker?: WorkerParts;
  readonly opened: AsyncDisposableStack;
}): Promise<RunningGateway> {
  const { environment, logger, clock, worker, opened } = options;
  const simulated = options.withSimulator ? await startSimulatedIfNeeded(environment, opened) : undefined;
  const { live, layers } = await openLiveSettings(options, simulated);
  const { telemetry, registry } = assembleTelemetry({ ...options, settings: live.settings, callers: () => gateway.callers });
  const { nodeId, store, journal, credits, books } = await openBooks({ ...options, live, registry });
  const refusals = watchRefusals(credits);
  const { callers, lend } = lendCallers(await openCallers({ environment, store, clock, logger, config: live.config }, opened));
  const deadlines = openDeadlines(clock, opened);
  const proofVault = openProofVault({ environment, store, clock, logger }, opened);
  const mediaMeter = opened.adopt(createMediaMeter(), (meter) => meter.close());

  const gateway: Gateway = {
    credits: refusals.desk,
    callers,
    journal,
    receipts: createReceiptFinder({ store: withArchivedCalls({ environment, store }), journal, clock }),
    spending: createSpendingReader({ store }),
    limiter: worker?.limiter ?? createLimiter({ clock }),
    health: createHealth({ clock, random: Math.random, logger, avoidsFailing: () => live.settings().retries.avoidFailing }),
    retryBudget: createRetryBudget(),
    drainSlots: new DrainSlots(),
    random: Math.random,
    gatekeeper: openGatekeeper(live, clock, logger, opened),
    replyOwners: createReplyOwners({ store }),
    proofVault,
    summaries: createCompactionSealer(loadStoreKey(environment)),
    documents: opened.adopt(createDocumentReader(), (reader) => reader.close()),
    schemaChecker: opened.adopt(createSchemaChecker(), (checker) => checker.close()),
    ...(await openWhatIsKept({ ...options, nodeId, store, live, telemetry, registry, meter: mediaMeter }, opened)),
    mediaMeter,
    fetchMedia: (url) => fetchNamedMedia(url, live.config().media),
    settings: live.settings,
    clock,
    newId: createIds(clock),
    ...openFilesAndTools({ ...options, live, simulated, gateway: () => gateway }),
    logger,
    telemetry,
    deadlines,
  };
  const server = createGatewayServer({ gateway, notReady: () => listHindrances(journal), startedAtMs: clock.nowMs() });
  const url = await serve(server, environment, worker);
  opened.defer(() => server.end.run({ graceMs: 0, idle: 'sweep' }));
  if (registry !== undefined) addAllGauges(registry, gateway, environment.secrets);
  const wakeOperations = await openControl({ ...options, ...server, nodeId, store, live, layers, gateway, simulated, lend }, opened);
  openAuditSinks({ store, config: live.config, clock, logger }, opened);
  openAlerts({ ...options, nodeId, store, journal, books, refusals, health: gateway.health, live, config: live.config, registry }, opened);
  return {
    url,
    // The primary serves the metrics of all workers.
    metricsUrl: worker === undefined ? await openMetrics(registry, options) : undefined,
    source: live.source(),
    examples: chooseExamples(live.settings().routing),
    reload: live.reload,
    wakeOperations,
    ...createEnding(server, journal, () => readDrainTimes(live.config(), options.program), logger),
    shipJournal: () => shipJournal(journal),
    writeProofs: proofVault.flush,
    readMetrics: () => registry?.snapshot(),
    recoverSlot: (slot) => recoverSlot({ ...environment, slot, store: options.store, clock, logger, settleLost: createSettler(live) }),
  };
}

/** Opens stored responses, conversations and videos, and the callbacks at their ends. */
async function openWhatIsKept(
  {
    live,
    ...parts
  }: Pick<Parameters<typeof openVideos>[0], 'environment' | 'store' | 'clock' | 'logger' | 'meter'> & {
    readonly live: LiveSettings;
    readonly telemetry: Telemetry;
    readonly nodeId: string;
    readonly registry: MetricRegistry | undefined;
  },
  opened: AsyncDisposableStack,
): Promise<
  Pick<Gateway, 'recording' | 'storedObjects' | 'background' | 'conversations' | 'callbacks' | 'videos' | 'pictures' | 'idempotency'>
> {
  const base = { ...parts, newId: createIds(parts.clock), config: live.config, settings: live.settings };
  keepStatisticsDays(base.store, live.config().timeZone ?? 'UTC', base.logger);
  const stored = openStoredObjects(base, opened);
  const { callbacks, vault } = openCallbacks({ ...base, conversations: stored.conversations }, opened);
  const idempotency = openIdempotency(base, opened);
  const recording = await openContent({ ...base, flushCalls: parts.telemetry.flush, random: Math.random }, opened);
  return { ...stored, callbacks, idempotency, recording, ...(await openMedia({ ...base, sealUrl: vault.sealUrl }, opened)) };
}

function listHindrances(journal: Journal): readonly string[] {
  const reason = journal.unavailableReason();
  return reason === undefined ? [] : [`journal: ${reason}`];
}

function createEnding(
  server: GatewayServer,
  journal: Journal,
  readTimes: () => DrainTimes,
  logger: Logger,
): Pick<RunningGateway, 'leave' | 'drain'> {
  return {
    leave: () => {
      server.end.leave();
      return readTimes();
    },
    drain: async (plan) => {
      await server.end.run(plan);
      await shipJournal(journal).catch((error: unknown) => {
        logger.warn({ err: error }, 'shipping the journal at shutdown failed');
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

/** Serves the metrics if they have an address. */
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

function shipJournal(journal: Journal): Promise<void> {
  return journal.drain(AbortSignal.timeout(shipMsMax));
}

/** Begins to accept connections, and returns the address. */
async function serve(server: GatewayServer, { host, port }: Environment, worker: WorkerParts | undefined): Promise<string> {
  if (worker !== undefined) {
    worker.connections.deliver(server.serveHandedOver());
    return worker.connections.url;
  }
  const address = await server.listen(host, port).catch((error: unknown) => {
    throw listenError(error, 'WEIR_PORT', host, port);
  });
  return formatUrl(address.host, address.port);
}

function fetchNamedMedia(url: string, configured: Config['media']): ReturnType<typeof fetchMedia> {
  return fetchMedia(url, {
    bytesMax: configured?.fileBytesMax ?? defaultMediaBytesMax,
    timeoutMs: mediaTimeoutMs,
    signal: AbortSignal.timeout(mediaTimeoutMs + 1000),
    allowPrivateAddresses: configured?.privateAddresses ?? false,
  });
}

/** A served model for each interface: a well-known one if it is served, else the first of the list. */
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
