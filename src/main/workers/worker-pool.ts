import { setTimeout as delay } from 'node:timers/promises';

import type { DrainPlan } from '../../gateway/drain.ts';
import type { Limiter } from '../../gateway/limits/limiter.ts';
import type { Logger } from '../../platform/log.ts';
import type { ConfigFiles } from '../config/load-config.ts';
import type { DrainTimes } from '../drain-times.ts';
import type { HandOver } from './hand-over.ts';
import { chooseSlot, createSlotRecovery } from './journal-slots.ts';
import type { Gathered, GatherTopics, WorkerReady } from './protocol.ts';
import { startWorkerProcess, type WorkerProcess } from './worker-process.ts';

/** The workers of a primary. */
export type WorkerPool = {
  /** Starts all. Rejects with the first WorkerFailedError, all of them ended. */
  readonly start: () => Promise<WorkerReady>;
  readonly reload: () => void;
  /** Puts a new worker in each one's place, one after the other: the new one takes calls before the old one stops. */
  readonly replaceAll: () => Promise<void>;
  /** All are not ready from now on, and ask their clients to leave. Resolves with how long the end may take. */
  readonly leave: () => Promise<DrainTimes>;
  /** Ends all. Resolves when the last is gone. */
  readonly drain: (plan: DrainPlan) => Promise<void>;
  /** Ends all at once. */
  readonly kill: () => void;
};

export type WorkerPoolOptions = {
  readonly count: number;
  readonly dataDirectory: string;
  readonly configPath: string | undefined;
  readonly port: number;
  readonly limiter: Limiter;
  readonly handOver: HandOver;
  readonly logger: Logger;
};

const askMsMax = 5000;
/** How long the others may take to write what they hold, within what an asking worker waits. */
const gatherMsMax = 500;
const recoverMsMax = 60_000;
/** A worker that dies again and again is restarted more and more slowly. One that lived for so long has a clean record. */
const backoffMs = { first: 100, last: 10_000, forgottenAfter: 30_000 };
/** After the grace: the last words of the calls, shipping, closing. */
const endMsMax = 20_000;

export function createWorkerPool(options: WorkerPoolOptions): WorkerPool {
  const { count, dataDirectory, handOver, logger } = options;
  const processes = new Set<WorkerProcess>();
  /** Those that take connections; a worker's successor replaces it here. */
  const serving = new Map<number, WorkerProcess>();
  const starting = new Set<WorkerProcess>();
  const recovering = new Set<string>();
  /** Slots whose holder is gone and whose calls may not be in the store yet. */
  const unrecovered = new Set<string>();
  const failures = new Map<number, number>();
  let lastGood: ConfigFiles | undefined;
  let stopping = false;
  let replacing: Promise<void> | undefined;

  const takenSlots = (): ReadonlySet<string> => new Set([...recovering, ...[...processes].map(({ journalSlot }) => journalSlot)]);

  const gather = async (topic: keyof GatherTopics, asker: WorkerProcess): Promise<Gathered> => {
    const others = [...processes].filter((other) => other !== asker);
    const answers = await Promise.allSettled(others.map(({ ipc }) => ipc.ask(topic, undefined, gatherMsMax)));
    const given = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
    return { answers: given, complete: given.length === others.length && unrecovered.size === 0 };
  };
  const launch = async (worker: number): Promise<WorkerReady> => {
    const journalSlot = chooseSlot(dataDirectory, takenSlots());
    const start = { worker, journalSlot, port: options.port, configPath: options.configPath, lastGood };
    const launched = startWorkerProcess({ ...options, start, gather, onConfigInForce: (files) => void (lastGood = files) });
    processes.add(launched);
    void launched.ended.then((end) => {
      processes.delete(launched);
      unrecovered.add(journalSlot);
      if (serving.get(worker) !== launched) return void recovery.look();
      serving.delete(worker);
      if (stopping) return;
      logger.error({ worker, pid: launched.pid, ...end }, 'a worker died; it is started again');
      if (end.livedMs > backoffMs.forgottenAfter) failures.delete(worker);
      void restart(worker);
    });
    starting.add(launched);
    const ready = await launched.ready.finally(() => starting.delete(launched));
    unrecovered.delete(journalSlot);
    serving.set(worker, launched);
    return ready;
  };
  const restart = async (worker: number): Promise<void> => {
    for (;;) {
      const before = failures.get(worker) ?? 0;
      failures.set(worker, before + 1);
      if (before > 0) await delay(Math.min(backoffMs.last, backoffMs.first * 2 ** before), undefined, { ref: false });
      if (stopping) return;
      try {
        await launch(worker);
        return;
      } catch (error) {
        logger.error({ worker, err: error }, 'a worker could not be started again');
      }
    }
  };
  const recovery = createSlotRecovery({
    dataDirectory,
    taken: takenSlots,
    logger,
    recover: async (slot) => {
      const [someone] = serving.values();
      if (someone === undefined) return false;
      recovering.add(slot);
      try {
        const recovered = await someone.ipc.ask('recover-slot', slot, recoverMsMax);
        if (recovered) unrecovered.delete(slot);
        return recovered;
      } finally {
        recovering.delete(slot);
      }
    },
  });
  const replace = async (worker: number): Promise<void> => {
    const old = serving.get(worker);
    if (old === undefined || stopping) return;
    await launch(worker);
    old.stopHandingOver();
    const { graceMs } = await old.ipc.ask('leave', undefined, askMsMax);
    // Connections that are idle live out the time that their clients were promised: nobody waits for them.
    await old.ipc.ask('drain', { graceMs, idle: 'expire' }, askMsMax);
  };
  const replaceAll = async (): Promise<void> => {
    logger.info({ workers: count }, 'replacing the workers one by one');
    try {
      for (const worker of [...serving.keys()]) await replace(worker);
      logger.info({ workers: count }, 'all workers are replaced; the old ones end with their last calls');
    } catch (error) {
      logger.error({ err: error }, 'a worker could not be replaced; those that are left go on as they are');
    }
  };
  const kill = (): void => {
    for (const each of processes) each.kill();
  };

  return {
    start: async () => {
      try {
        const [first] = await Promise.all(Array.from({ length: count }, (_, index) => launch(index + 1)));
        if (first === undefined) throw new Error('there must be at least one worker');
        void recovery.look();
        return first;
      } catch (error) {
        stopping = true;
        recovery.close();
        kill();
        await Promise.all([...processes].map(({ ended }) => ended));
        throw error;
      }
    },
    reload: () => {
      for (const { ipc } of processes) ipc.tell('reload', undefined);
    },
    replaceAll: () => {
      replacing ??= replaceAll().finally(() => {
        replacing = undefined;
      });
      return replacing;
    },
    leave: async () => {
      stopping = true;
      recovery.close();
      // One that has not begun has nothing to end.
      for (const each of starting) each.kill();
      const answers = await Promise.allSettled([...serving.values()].map(({ ipc }) => ipc.ask('leave', undefined, askMsMax)));
      const times = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
      return { delayMs: Math.max(0, ...times.map(({ delayMs }) => delayMs)), graceMs: Math.max(0, ...times.map(({ graceMs }) => graceMs)) };
    },
    drain: async (plan) => {
      handOver.close();
      for (const each of processes) {
        each.stopHandingOver();
        each.ipc.ask('drain', plan, askMsMax).catch((error: unknown) => {
          logger.error({ worker: each.worker, err: error }, 'a worker does not hear that it is to end');
        });
      }
      const late = setTimeout(() => {
        logger.error({ workers: processes.size }, 'some workers did not end in time and are ended; their journals keep their calls');
        kill();
      }, plan.graceMs + endMsMax);
      await Promise.all([...processes].map(({ ended }) => ended));
      clearTimeout(late);
    },
    kill,
  };
}
