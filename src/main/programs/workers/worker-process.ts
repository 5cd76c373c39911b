import { type ChildProcess, fork } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import type { Limiter } from '../../../gateway/admission/limits/limiter.ts';
import type { Logger } from '../../../platform/log.ts';
import type { ConfigFiles } from '../../config/load-config.ts';
import type { ConnectionDispatcher, DispatcherSlot } from './connection-dispatcher.ts';
import { createIpc, type Ipc } from './ipc.ts';
import type { GatheredAnswers, GatherTopics, PrimaryTopics, WorkerReady, WorkerStart, WorkerTopics } from './protocol.ts';
import type { Delivery } from './receive-connections.ts';
import { createWorkerReservations } from './worker-reservations.ts';

/** How a worker's process ended. */
export type WorkerEnd = { readonly code: number | undefined; readonly signal: NodeJS.Signals | undefined; readonly livedMs: number };

/** A worker as the primary sees it. */
export type WorkerProcess = {
  readonly worker: number;
  readonly journalSlot: string;
  readonly pid: number | undefined;
  readonly ipc: Ipc<WorkerTopics>;
  /**
   * Resolves when it accepts connections. Rejects with a WorkerFailedError that has the worker's message, or if it ends
   * before.
   */
  readonly ready: Promise<WorkerReady>;
  /** Resolves when it has ended and its reservations are released. */
  readonly ended: Promise<WorkerEnd>;
  /** Stops sending new connections to it. */
  readonly stopHandingOver: () => void;
  readonly kill: () => void;
};

/** A worker could not start. The message is the worker's own, for the operator. */
export class WorkerFailedError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'WorkerFailedError';
  }
}

export type WorkerProcessOptions = {
  readonly start: WorkerStart;
  readonly limiter: Limiter;
  readonly dispatcher: ConnectionDispatcher;
  readonly onConfigInForce: (files: ConfigFiles) => void;
  readonly gather: (topic: keyof GatherTopics, asker: WorkerProcess) => Promise<GatheredAnswers>;
  readonly logger: Logger;
};

const program = fileURLToPath(new URL('./worker-main.ts', import.meta.url));
/** The limit of a start, which opens the database and recovers a journal. */
const readyMsMax = 60_000;
/** The limit for reading the last messages of a dead worker. */
const disconnectMsMax = 1000;

/** Starts the process of a worker, and connects it with the shared limiter and the dispatcher. */
export function startWorkerProcess(options: WorkerProcessOptions): WorkerProcess {
  const { start, limiter, dispatcher, logger } = options;
  const startedMs = performance.now();
  const child = fork(program, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const reservations = createWorkerReservations({ limiter });
  const ready = Promise.withResolvers<WorkerReady>();
  ready.promise.catch(() => {});
  const timer = setTimeout(() => {
    logger.error({ worker: start.worker, pid: child.pid }, 'worker start timed out');
    child.kill('SIGKILL');
  }, readyMsMax);
  let place: DispatcherSlot | undefined;
  const ipc: Ipc<WorkerTopics> = createIpc<WorkerTopics, PrimaryTopics>({
    channel: channelOf(child),
    onFailure: (topic, error) => logger.error({ topic, err: error }, 'handling a message from a worker failed'),
    handlers: {
      ready: (what) => {
        clearTimeout(timer);
        place = dispatcher.join({
          send: (id, socket) => void child.send({ delivery: id } satisfies Delivery, socket, { keepOpen: true }, () => {}),
        });
        ready.resolve(what);
      },
      failed: (message) => ready.reject(new WorkerFailedError(message)),
      taken: ({ id, open }) => place?.taken(id, open),
      'open-connections': (open) => place?.counted(open),
      'config-in-force': options.onConfigInForce,
      reserve: reservations.reserve,
      'limit-use': limiter.use,
      'end-reservation': reservations.end,
      gather: ({ topic }) => options.gather(topic, self),
    },
  });
  const ended = waitForEnd(child).then(({ code, signal }) => {
    clearTimeout(timer);
    ipc.end();
    place?.lost();
    reservations.endAll();
    ready.reject(new WorkerFailedError(`worker ${start.worker} ended before it was ready (${signal ?? `code ${code}`})`));
    return { code, signal, livedMs: performance.now() - startedMs };
  });
  const self: WorkerProcess = {
    worker: start.worker,
    journalSlot: start.journalSlot,
    pid: child.pid,
    ipc,
    ready: ready.promise,
    ended,
    stopHandingOver: () => place?.leave(),
    kill: () => void child.kill('SIGKILL'),
  };
  ipc.tell('start', start);
  return self;
}

function channelOf(child: ChildProcess) {
  return {
    // A message to a worker that ends at this moment is lost. Its end is reported by other events.
    send: (message: unknown) => void (child.connected && child.send(message as object, () => {})),
    onMessage: (listener: (message: unknown) => void) => void child.on('message', listener),
  };
}

/**
 * Resolves when the process has ended and all its messages were read. Only then is it known which connections had
 * arrived.
 */
async function waitForEnd(child: ChildProcess): Promise<Pick<WorkerEnd, 'code' | 'signal'>> {
  const exited = new Promise<Pick<WorkerEnd, 'code' | 'signal'>>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code: code ?? undefined, signal: signal ?? undefined }));
    child.once('error', () => {
      if (child.pid === undefined) resolve({ code: undefined, signal: undefined });
    });
  });
  const disconnected = child.pid === undefined ? undefined : new Promise<void>((resolve) => child.once('disconnect', () => resolve()));
  const how = await exited;
  // The channel of a killed process does not always report its close, so the wait is limited.
  await Promise.race([disconnected, delay(disconnectMsMax, undefined, { ref: false })]);
  return how;
}
