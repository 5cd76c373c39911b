import { createServer, type AddressInfo } from 'node:net';
import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';

import { createLimiter } from '../../../gateway/admission/limits/limiter.ts';
import { systemClock } from '../../../platform/clock.ts';
import { createLogDestination, createLogger, type Logger } from '../../../platform/log.ts';
import { delayAfter } from '../drain-times.ts';
import { type Environment, StartError } from '../../environment.ts';
import { ensureFirstCredentials } from '../../assembly/first-credentials.ts';
import { formatUrl, listenError } from '../listen.ts';
import { openDataDirectory } from '../../assembly/open-data-directory.ts';
import { watchLoop } from '../watch-loop.ts';
import { logUnhandledRejections } from '../log-unhandled-rejections.ts';
import { waitForStopSignal } from '../wait-for-stop-signal.ts';
import { describeWelcome } from '../welcome.ts';
import { serveMetrics } from '../../assembly/telemetry/serve-metrics.ts';
import { createHandOver, type HandOver } from './hand-over.ts';
import { createWorkerPool, type WorkerPool } from './worker-pool.ts';
import { WorkerFailedError } from './worker-process.ts';

const workersMax = 128;

/** Reads how many workers there shall be: a number, or `auto` for one for each processor that this process may use. @throws StartError */
export function readWorkerCount(text: string): number {
  if (text === 'auto') return availableParallelism();
  if (/^[1-9]\d{0,2}$/.test(text) && Number(text) <= workersMax) return Number(text);
  throw new StartError(`--workers must be a number from 1 to ${workersMax}, or auto, but it is "${text}"`);
}

/**
 * Runs the gateway as several processes that share a port. This one takes connections and hands each to a worker, counts limits for all, restarts workers that die, and
 * replaces all of them on SIGUSR2. It never sees a call. Serves until a signal comes, drains and returns.
 */
export async function runPrimary(environment: Environment, workers: number): Promise<void> {
  const logger = createLogger({ level: environment.logLevel, destination: createLogDestination({ isTerminal: process.stderr.isTTY }) });
  await using opened = new AsyncDisposableStack();
  const stopSignal = waitForStopSignal(logger, opened);
  logUnhandledRejections(logger, opened);

  // Taking the directory, migrations and first credentials come before any worker.
  const store = await openDataDirectory({ environment, logger, exclusive: true, opened });
  const credentials = await ensureFirstCredentials({ store, environment, clock: systemClock });
  const handOver = createHandOver();
  const listening = await listen(environment, handOver);
  opened.defer(() => listening.close());
  const pool = createWorkerPool({
    count: workers,
    dataDirectory: environment.dataDirectory,
    configPath: environment.configPath,
    port: listening.port,
    limiter: createLimiter({ clock: systemClock }),
    handOver,
    logger,
  });
  // However this process ends by itself, its workers end too; when it is killed, they let their calls finish.
  process.on('exit', pool.kill);
  const ready = await pool.start().catch((error: unknown) => {
    throw error instanceof WorkerFailedError ? new StartError(error.message, { cause: error }) : error;
  });
  const metricsUrl = await serveMetricsOf(pool, { environment, logger, opened });
  watchLoop(environment, logger, opened);
  // Before anybody knows that it is ready: until then these signals would end it.
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

/** Serves the metrics of all workers together, where they have an address. */
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

/** Takes connections, unread, from now on: before there is a worker they wait. */
function listen({ host, port }: Environment, handOver: HandOver): Promise<Listening> {
  const server = createServer({ pauseOnConnect: true, noDelay: true, allowHalfOpen: true }, handOver.take);
  // Not waited for: its callback would wait for connections that live on in workers.
  const close = (): void => void server.close();
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(listenError(error, 'WEIR_PORT', host, port) as Error));
    server.listen(port, host, () => {
      const address = server.address() as AddressInfo;
      resolve({ host: address.address, port: address.port, close });
    });
  });
}
