import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import type { DrainPlan } from '../../../gateway/server/drain.ts';
import type { Limiter } from '../../../gateway/admission/limits/limiter.ts';
import type { Logger } from '../../../platform/log.ts';
import type { MetricsSnapshot } from '../../../platform/metrics/metrics-snapshot.ts';
import type { ConfigFiles } from '../../config/load-config.ts';
import type { DrainTimes } from '../drain-times.ts';
import type { ConnectionDispatcher } from './connection-dispatcher.ts';
import { chooseSlot, createSlotRecovery, hasSegments, type SlotRecovery } from './journal-slots.ts';
import type { GatheredAnswers, GatherTopics, WorkerReady } from './protocol.ts';
import { startWorkerProcess, type WorkerEnd, type WorkerProcess } from './worker-process.ts';

/** The workers of a primary. */
export type WorkerPool = {
  /** Starts all. Rejects with the first WorkerFailedError, after all have ended. */
  readonly start: () => Promise<WorkerReady>;
  readonly reload: () => void;
  /** Replaces the workers one by one. Each new one accepts calls before the old one stops. */
  readonly replaceAll: () => Promise<void>;
  /**
   * All report not ready from now on, and ask their clients to disconnect. Resolves with how long the shutdown may
   * take.
   */
  readonly leave: () => Promise<DrainTimes>;
  /** Shuts all down. Resolves when the last has ended. */
  readonly drain: (plan: DrainPlan) => Promise<void>;
  /** Ends all processes at once, with SIGKILL. */
  readonly kill: () => void;
  /** The current metrics of the workers that answer in time. */
  readonly readMetrics: () => Promise<readonly MetricsSnapshot[]>;
};

export type WorkerPoolOptions = {
  readonly count: number;
  readonly dataDirectory: string;
  readonly configPath: string | undefined;
  readonly port: number;
  readonly limiter: Limiter;
  readonly dispatcher: ConnectionDispatcher;
  readonly logger: Logger;
};

const askMsMax = 5000;
/** The limit for other workers to write their pending rows, shorter than the limit of the asking worker. */
const gatherMsMax = 500;
const recoverMsMax = 60_000;
/** A scrape waits this long; the figures of a blocked worker are then missing. */
const metricsMsMax = 2000;
/** Pauses before restarts of a worker that dies repeatedly, and the lifetime after which they start again. */
const backoffMs = { first: 100, last: 10_000, forgottenAfter: 30_000 };
/** The time after the grace period: last bytes of calls, shipping, closing. */
const endMsMax = 20_000;

export function createWorkerPool(options: WorkerPoolOptions): WorkerPool {
  const pool = new Workers(options);
  return {
    start: () => pool.start(),
    reload: () => pool.reload(),
    replaceAll: () => pool.replaceAll(),
    leave: () => pool.leave(),
    drain: (plan) => pool.drain(plan),
    kill: () => pool.kill(),
    readMetrics: () => pool.readMetrics(),
  };
}

class Workers {
  readonly #options: WorkerPoolOptions;
  readonly #processes = new Set<WorkerProcess>();
  readonly #starting = new Set<WorkerProcess>();
  /** Workers that accept connections. A successor replaces its worker here. */
  readonly #serving = new Map<number, WorkerProcess>();
  readonly #recovering = new Set<string>();
  /** Slots whose holder has died and whose calls may not be in the store yet. */
  readonly #unrecovered = new Set<string>();
  readonly #failures = new Map<number, number>();
  readonly #recovery: SlotRecovery;
  #lastGood: ConfigFiles | undefined;
  #stopping = false;
  #replacing: Promise<void> | undefined;

  constructor(options: WorkerPoolOptions) {
    const { dataDirectory, logger } = options;
    this.#options = options;
    this.#recovery = createSlotRecovery({
      dataDirectory,
      taken: () => this.#takenSlots(),
      recover: (slot) => this.#recover(slot),
      logger,
    });
  }

  async start(): Promise<WorkerReady> {
    try {
      const [first] = await Promise.all(Array.from({ length: this.#options.count }, (_, index) => this.#launch(index + 1)));
      if (first === undefined) throw new Error('there must be at least one worker');
      void this.#recovery.look();
      return first;
    } catch (error) {
      this.#stopping = true;
      this.#recovery.close();
      this.kill();
      await this.#allEnded();
      throw error;
    }
  }

  reload(): void {
    for (const { ipc } of this.#processes) ipc.tell('reload', undefined);
  }

  replaceAll(): Promise<void> {
    this.#replacing ??= this.#replaceAll().finally(() => {
      this.#replacing = undefined;
    });
    return this.#replacing;
  }

  async leave(): Promise<DrainTimes> {
    this.#stopping = true;
    this.#recovery.close();
    // A worker that has not started has nothing to drain.
    for (const each of this.#starting) each.kill();
    const answers = await Promise.allSettled([...this.#serving.values()].map(({ ipc }) => ipc.ask('leave', undefined, askMsMax)));
    const times = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
    return {
      delayMs: Math.max(0, ...times.map(({ delayMs }) => delayMs)),
      graceMs: Math.max(0, ...times.map(({ graceMs }) => graceMs)),
    };
  }

  async drain(plan: DrainPlan): Promise<void> {
    const { dispatcher, logger } = this.#options;
    dispatcher.close();
    for (const each of this.#processes) {
      each.stopHandingOver();
      each.ipc.ask('drain', plan, askMsMax).catch((error: unknown) => {
        logger.error({ worker: each.worker, err: error }, 'draining a worker failed');
      });
    }
    const late = setTimeout(() => {
      logger.error({ workerCount: this.#processes.size }, 'workers killed after the drain time');
      this.kill();
    }, plan.graceMs + endMsMax);
    await this.#allEnded();
    clearTimeout(late);
  }

  kill(): void {
    for (const each of this.#processes) each.kill();
  }

  async readMetrics(): Promise<readonly MetricsSnapshot[]> {
    const running = [...this.#processes].filter((each) => !this.#starting.has(each));
    const answers = await Promise.allSettled(running.map(({ ipc }) => ipc.ask('metrics', undefined, metricsMsMax)));
    return answers.flatMap((answer) => (answer.status === 'fulfilled' && answer.value !== undefined ? [answer.value] : []));
  }

  async #allEnded(): Promise<void> {
    await Promise.all([...this.#processes].map(({ ended }) => ended));
  }

  #takenSlots(): ReadonlySet<string> {
    return new Set([...this.#recovering, ...[...this.#processes].map(({ journalSlot }) => journalSlot)]);
  }

  /** Starts a worker in a free slot. Resolves when it accepts connections, and has replaced its predecessor. */
  async #launch(worker: number): Promise<WorkerReady> {
    const { dataDirectory, port, configPath } = this.#options;
    const journalSlot = chooseSlot(dataDirectory, this.#takenSlots());
    const launched = startWorkerProcess({
      ...this.#options,
      start: { worker, journalSlot, port, configPath, lastGood: this.#lastGood },
      gather: (topic, asker) => this.#gather(topic, asker),
      onConfigInForce: (files) => {
        this.#lastGood = files;
      },
    });
    this.#processes.add(launched);
    this.#starting.add(launched);
    void launched.ended.then((end) => this.#bury(launched, end));
    const ready = await launched.ready.finally(() => this.#starting.delete(launched));
    this.#unrecovered.delete(journalSlot);
    this.#serving.set(worker, launched);
    return ready;
  }

  #bury(gone: WorkerProcess, end: WorkerEnd): void {
    const { worker, journalSlot, pid } = gone;
    this.#processes.delete(gone);
    if (hasSegments(join(this.#options.dataDirectory, journalSlot))) this.#unrecovered.add(journalSlot);
    if (this.#serving.get(worker) !== gone) return void this.#recovery.look();
    this.#serving.delete(worker);
    if (this.#stopping) return;
    this.#options.logger.error({ worker, pid, ...end }, 'worker died');
    if (end.livedMs > backoffMs.forgottenAfter) this.#failures.delete(worker);
    void this.#restart(worker);
  }

  async #restart(worker: number): Promise<void> {
    while (!this.#stopping && !this.#serving.has(worker)) {
      const before = this.#failures.get(worker) ?? 0;
      this.#failures.set(worker, before + 1);
      if (before > 0) await delay(Math.min(backoffMs.last, backoffMs.first * 2 ** before), undefined, { ref: false });
      if (this.#stopping) return;
      try {
        await this.#launch(worker);
      } catch (error) {
        this.#options.logger.error({ worker, err: error }, 'worker restart failed');
      }
    }
  }

  async #replaceAll(): Promise<void> {
    const { count, logger } = this.#options;
    logger.info({ workerCount: count }, 'worker replacement started');
    try {
      for (let worker = 1; worker <= count; worker += 1) await this.#replace(worker);
      logger.info({ workerCount: count }, 'worker replacement completed');
    } catch (error) {
      logger.error({ err: error }, 'worker replacement failed');
    }
  }

  async #replace(worker: number): Promise<void> {
    const old = this.#serving.get(worker);
    // A dead worker is being restarted anyway, so it needs no replacement.
    if (old === undefined || this.#stopping) return;
    await this.#launch(worker);
    old.stopHandingOver();
    const { graceMs } = await old.ipc.ask('leave', undefined, askMsMax);
    // Idle connections stay open for the announced time; the replacement does not wait for them.
    await old.ipc.ask('drain', { graceMs, idle: 'expire' }, askMsMax);
  }

  async #gather(topic: keyof GatherTopics, asker: WorkerProcess): Promise<GatheredAnswers> {
    const others = [...this.#processes].filter((other) => other !== asker && !this.#starting.has(other));
    const answers = await Promise.allSettled(others.map(({ ipc }) => ipc.ask(topic, undefined, gatherMsMax)));
    const given = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
    return { answers: given, complete: given.length === others.length && this.#unrecovered.size === 0 };
  }

  /** Lets one of the workers recover an abandoned slot. */
  async #recover(slot: string): Promise<boolean> {
    const [someone] = this.#serving.values();
    if (someone === undefined) return false;
    this.#recovering.add(slot);
    try {
      const recovered = await someone.ipc.ask('recover-slot', slot, recoverMsMax);
      if (recovered) this.#unrecovered.delete(slot);
      return recovered;
    } finally {
      this.#recovering.delete(slot);
    }
  }
}
