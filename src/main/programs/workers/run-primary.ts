import { createServer, type AddressInfo } from 'node:net';
import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';

import { createLimiter } from '../../../gateway/admission/limits/limiter.ts';
import { systemClock } from '../../../platform/clock.ts';
import { createLogDestination, createLogger, type Logger } from '../../../platform/log.ts';
import { delayAfter } from '../drain-times.ts';
import { openSecrets } from '../../egress/open-secrets.ts';
import { type Environment, StartError } from '../../environment.ts';
import { ensureConfiguredCredentials, makeFirstCredentials } from '../../assembly/first-credentials.ts';
import { formatUrl, listenError } from '../listen.ts';
import { openDataDirectory } from '../../assembly/open-data-directory.ts';
import { watchLoop } from '../watch-loop.ts';
import { logUnhandledRejections } from '../log-unhandled-rejections.ts';
import { waitForStopSignal } from '../wait-for-stop-signal.ts';
import { describeWelcome } from '../welcome.ts';
import { serveMetrics } from '../../assembly/telemetry/serve-metrics.ts';
import { createConnectionDispatcher, type ConnectionDispatcher } from './connection-dispatcher.ts';
import { createWorkerPool, type WorkerPool } from './worker-pool.ts';
import { WorkerFailedError } from './worker-process.ts';

const workersMax = 128;

/**
 * Reads the number of workers: a number, or `auto` for one per processor that this process may use.
 * @throws StartError
 */
export function readWorkerCount(text: string): number {
  if (text === 'auto') return availableParallelism();
  if (/^[1-9]\d{0,2}$/.test(text) && Number(text) <= workersMax) return Number(text);
  throw new StartError(`--workers must be a number from 1 to ${workersMax}, or auto, but it is "${text}"`);
}

/**
 * Runs the gateway as several processes that share a port. This one accepts connections and sends each to a worker,
 * counts limits for all, restarts dead workers, and replaces all workers on SIGUSR2. It never sees a call. Serves until
 * a signal, drains and returns.
 */
export async function runPrimary(given: Environment, workers: number): Promise<void> {
  const logger = createLogger({ level: given.logLevel, destination: createLogDestination({ isTerminal: process.stderr.isTTY }) });
  await using opened = new AsyncDisposableStack();
  const stopSignal = waitForStopSignal(logger, opened);
  logUnhandledRejections(logger, opened);

  const environment = await openSecrets(given, { needs: 'others', logger, opened });
  // The lock of the directory, migrations and configured credentials come before any worker.
  const store = await openDataDirectory({ environment, logger, exclusive: true, opened });
  await ensureConfiguredCredentials({ store, environment, clock: systemClock });
  const dispatcher = createConnectionDispatcher();
  const listening = await listen(environment, dispatcher);
  opened.defer(() => listening.close());
  const pool = createWorkerPool({
    count: workers,
    dataDirectory: environment.dataDirectory,
    configPath: environment.configPath,
    port: listening.port,
    limiter: createLimiter({ clock: systemClock }),
    dispatcher,
    logger,
  });
  // When this process exits by itself, its workers end too. When it is killed, they finish their calls.
  process.on('exit', pool.kill);
  const ready = await pool.start().catch((error: unknown) => {
    throw error instanceof WorkerFailedError ? new StartError(error.message, { cause: error }) : error;
  });
  const metricsUrl = await serveMetricsOf(pool, { environment, logger, opened });
  watchLoop(environment, logger, opened);
  const credentials = await makeFirstCredentials({ store, environment, clock: systemClock });
  // Handlers are set before the ready line, because a signal before them would end the process at once.
  process.on('SIGHUP', pool.reload);
  process.on('SIGUSR2', () => void pool.replaceAll());
  console.log(
    describeWelcome({
      gatewayUrl: formatUrl(listening.host, listening.port),
      monitorUrl: undefined,
      metricsUrl,
      newApiKey: credentials.newApiKey,
      newBillingToken: credentials.newBillingToken,
      source: { type: ready.source, upstreams: Object.fromEntries(ready.upstreams.map((name) => [name, {}])) },
      examples: ready.examples,
    }),
  );
  const signal = await stopSignal;
  const times = await pool.leave();
  const delayMs = delayAfter(signal, times);
  if (delayMs > 0) await delay(delayMs);
  listening.close();
  await pool.drain({ graceMs: times.graceMs, idle: delayMs > 0 ? 'close' : 'sweep' });
}

/** Serves the merged metrics of all workers, if they have an address. */
async function serveMetricsOf(
  pool: WorkerPool,
  { environment, logger, opened }: { readonly environment: Environment; readonly logger: Logger; readonly opened: AsyncDisposableStack },
): Promise<string | undefined> {
  if (environment.metrics === undefined) return undefined;
  const server = await serveMetrics({ ...environment.metrics, logger, snapshots: pool.readMetrics });
  opened.defer(() => server.close());
  return server.url;
}

type Listening = { readonly host: string; readonly port: number; readonly close: () => void };

/** Accepts connections without reading them. They wait until there is a worker. */
function listen({ host, port }: Environment, dispatcher: ConnectionDispatcher): Promise<Listening> {
  const server = createServer({ pauseOnConnect: true, noDelay: true, allowHalfOpen: true }, dispatcher.take);
  // Not awaited, because the callback would wait for connections that stay open in workers.
  const close = (): void => void server.close();
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(listenError(error, 'WEIR_PORT', host, port) as Error));
    server.listen(port, host, () => {
      const address = server.address() as AddressInfo;
      resolve({ host: address.address, port: address.port, close });
    });
  });
}
