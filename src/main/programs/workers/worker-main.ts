import type { Socket } from 'node:net';

import { systemClock } from '../../../platform/clock.ts';
import { createLogDestination, createLogger } from '../../../platform/log.ts';
import { assembleGateway, type RunningGateway } from '../../assembly/assemble-gateway.ts';
import { describeFailure } from '../describe-failure.ts';
import { openSecrets } from '../../egress/open-secrets.ts';
import { readEnvironment } from '../../environment.ts';
import { formatUrl } from '../listen.ts';
import { openDatabase } from '../../assembly/open-data-directory.ts';
import { remembersKeys } from '../../assembly/remember-keys.ts';
import { tuneRuntime } from '../tune-runtime.ts';
import { watchLoop } from '../watch-loop.ts';
import { createIpc, type Ipc } from './ipc.ts';
import type { DrainPlan } from '../../../gateway/server/drain.ts';
import type { PrimaryTopics, WorkerStart, WorkerTopics } from './protocol.ts';
import { receiveConnections } from './receive-connections.ts';
import { createCoalesced, shareStore } from './share-store.ts';
import { createSharedLimiter } from './shared-limiter.ts';

/** The limit for all other workers to write their pending rows. */
const gatherMsMax = 700;

/**
 * The program of a worker. The primary starts and controls it. A worker ignores stop signals, which a terminal or a
 * service manager sends to all processes, because the primary handles them.
 */
const environment = readEnvironment(process.env);
const logDestination = createLogDestination({ isTerminal: process.stderr.isTTY });
const logger = createLogger({ level: environment.logLevel, destination: logDestination });
const opened = new AsyncDisposableStack();
const gateway = Promise.withResolvers<RunningGateway>();
// The handlers await it; possibly none runs.
gateway.promise.catch(() => {});
let ending: Promise<void> | undefined;

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR2'] as const) process.on(signal, () => {});
process.on('unhandledRejection', (error) => logger.error({ err: error }, 'unhandled promise rejection (bug)'));

const channel = {
  // Without a primary the message is dropped. The callback prevents an error if the channel closes at this moment.
  send: (message: unknown) => void (process.connected && process.send?.(message, undefined, {}, () => {})),
  onMessage: (listener: (message: unknown) => void) => void process.on('message', listener),
};
const primary: Ipc<PrimaryTopics> = createIpc<PrimaryTopics, WorkerTopics>({
  channel,
  onFailure: (topic, error) => logger.error({ topic, err: error }, 'handling a message from the primary failed'),
  handlers: {
    start: (order) => void start(order),
    reload: async () => {
      (await gateway.promise).reload();
    },
    leave: async () => (await gateway.promise).leave(),
    drain: async (plan) => void end(await gateway.promise, plan),
    'recover-slot': async (slot) => await (await gateway.promise).recoverSlot(slot),
    'ship-journal': async () => await (await gateway.promise).shipJournal(),
    'write-proofs': async () => await (await gateway.promise).writeProofs(),
    metrics: async () => (await gateway.promise).readMetrics(),
  },
});
process.on('disconnect', () => void endAsOrphan());

async function start(order: WorkerStart): Promise<void> {
  try {
    const running = await assemble(order);
    watchLoop(environment, logger, opened);
    gateway.resolve(running);
    primary.tell('ready', { source: running.source.type, upstreams: Object.keys(running.source.upstreams), examples: running.examples });
  } catch (error) {
    gateway.reject(error);
    primary.tell('failed', describeFailure(error));
    process.exitCode = 1;
    await opened.disposeAsync();
    process.disconnect?.();
  }
}

async function assemble(order: WorkerStart): Promise<RunningGateway> {
  tuneRuntime();
  const configured = await openSecrets({ ...environment, configPath: order.configPath }, { needs: 'keys', logger, opened });
  const store = await openDatabase(configured, {
    mayBeAway: remembersKeys(configured),
    onFailure: (error) => logger.error({ err: error }, 'database worker died'),
  });
  opened.defer(() => store.close());
  const ask = (topic: 'ship-journal' | 'write-proofs') =>
    createCoalesced(async () => {
      const gathered = await primary.ask('gather', { topic }, gatherMsMax).catch(() => undefined);
      return gathered?.complete === true;
    });
  const askers = { 'ship-journal': ask('ship-journal'), 'write-proofs': ask('write-proofs') };
  return await assembleGateway({
    environment: configured,
    logger,
    logDestination,
    store: shareStore(store, (topic) => askers[topic]()),
    clock: systemClock,
    withSimulator: false,
    program: 'gateway',
    opened,
    worker: {
      journalSlot: order.journalSlot,
      limiter: createSharedLimiter({ primary }),
      lastGood: order.lastGood,
      onConfigInForce: (files) => primary.tell('config-in-force', files),
      connections: {
        url: formatUrl(environment.host, order.port),
        deliver: (take: (socket: Socket) => void) => receiveConnections({ take, primary }),
      },
    },
  });
}

/** Shuts down once; a later plan shortens it. */
function end(running: RunningGateway, plan: DrainPlan): Promise<void> {
  if (ending !== undefined)
    running.drain(plan).catch((error: unknown) => logger.error({ err: error }, 'shortening the drain of a worker failed'));
  ending ??= (async () => {
    try {
      await running.drain(plan);
      await opened.disposeAsync();
    } catch (error) {
      logger.error({ err: error }, 'worker shutdown failed');
      process.exitCode = 1;
    }
    if (process.connected) process.disconnect?.();
  })();
  return ending;
}

/** The primary was killed. Running calls may finish, and this process now handles signals. */
async function endAsOrphan(): Promise<void> {
  primary.end();
  if (ending !== undefined || process.exitCode !== undefined) return;
  logger.error('primary process lost');
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
  try {
    const running = await gateway.promise;
    const { graceMs } = running.leave();
    await end(running, { graceMs, idle: 'close' });
  } catch {
    // The worker had not started yet.
    process.exit(1);
  }
}
