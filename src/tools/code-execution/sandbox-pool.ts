import type { Logger } from '../../platform/log.ts';
import { waitFor } from '../../platform/wait-for.ts';

/** What the pool has of a sandbox. */
export type PooledSandbox = {
  readonly isAlive: boolean;
  readonly ready: Promise<void>;
  readonly ended: Promise<void>;
  readonly close: () => void;
};

export type SandboxPoolOptions<Kept extends PooledSandbox> = {
  /** Starts a sandbox; it need not be ready yet. */
  readonly start: () => Promise<Kept>;
  /** How many wait warm for the next request. */
  readonly poolSize: number;
  /** How many requests may have one at the same time. */
  readonly concurrencyMax: number;
  /** How long a request may wait for its turn. */
  readonly waitMs: number;
  /** After so long without a request, the warm ones are let go. */
  readonly idleMs: number;
  readonly logger: Logger;
};

/** Longest wait for one that starts. It takes half a second, on a machine that is free. */
const readyMs = 60_000;
/** How many may wait for each that may run. */
const waitersPerPlace = 8;

/**
 * Hands out sandboxes, each to one request and never again. The first is started by the first request; from then on some are kept warm.
 */
export class SandboxPool<Kept extends PooledSandbox> {
  readonly #options: SandboxPoolOptions<Kept>;
  readonly #all = new Set<Kept>();
  readonly #warm: Kept[] = [];
  readonly #waiters: (() => void)[] = [];
  #taken = 0;
  #starting = 0;
  #closed = false;
  #idleTimer: NodeJS.Timeout | undefined;

  constructor(options: SandboxPoolOptions<Kept>) {
    this.#options = options;
  }

  /**
   * A sandbox that is ready, or undefined when none is to be had in time: too many requests have one, or none starts. Its place is free again
   * when it has ended. Rejects only with the signal's reason.
   */
  async take(signal: AbortSignal): Promise<Kept | undefined> {
    signal.throwIfAborted();
    if (!(await this.#enter(signal))) return undefined;
    let sandbox: Kept | undefined;
    try {
      sandbox = this.#takeWarm() ?? (await this.#start());
      await waitFor(sandbox.ready, readyMs, signal);
    } catch (error) {
      sandbox?.close();
      if (sandbox === undefined) this.#leave();
      else this.#leaveAfter(sandbox);
      signal.throwIfAborted();
      this.#options.logger.warn({ err: error }, 'a Python sandbox did not start');
      return undefined;
    }
    this.#leaveAfter(sandbox);
    this.#fill();
    return sandbox;
  }

  /** Kills every sandbox and gives out no more. Resolves when they are gone. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#idleTimer);
    for (const waiter of this.#waiters.splice(0)) waiter();
    const all = [...this.#all];
    for (const sandbox of all) sandbox.close();
    await Promise.all(all.map((sandbox) => sandbox.ended));
  }

  /** Waits for a place. */
  async #enter(signal: AbortSignal): Promise<boolean> {
    if (this.#closed) return false;
    if (this.#taken < this.#options.concurrencyMax) {
      this.#taken += 1;
      return true;
    }
    if (this.#waiters.length >= waitersPerPlace * this.#options.concurrencyMax) return false;
    const turn = Promise.withResolvers<void>();
    this.#waiters.push(turn.resolve);
    try {
      await waitFor(turn.promise, this.#options.waitMs, signal);
      return !this.#closed;
    } catch {
      const place = this.#waiters.indexOf(turn.resolve);
      if (place >= 0) this.#waiters.splice(place, 1);
      // The turn came in the moment in which it was given up: it is the next one's.
      else if (!this.#closed) this.#leave();
      signal.throwIfAborted();
      return false;
    }
  }

  #leave(): void {
    const next = this.#waiters.shift();
    if (next === undefined) this.#taken -= 1;
    else next();
  }

  #leaveAfter(sandbox: Kept): void {
    void sandbox.ended.then(() => this.#leave());
  }

  #takeWarm(): Kept | undefined {
    for (;;) {
      const sandbox = this.#warm.shift();
      if (sandbox === undefined || sandbox.isAlive) return sandbox;
    }
  }

  async #start(): Promise<Kept> {
    const sandbox = await this.#options.start();
    this.#all.add(sandbox);
    void sandbox.ended.then(() => this.#all.delete(sandbox));
    if (this.#closed) {
      sandbox.close();
      throw new Error('The pool is closed.');
    }
    return sandbox;
  }

  #fill(): void {
    clearTimeout(this.#idleTimer);
    if (this.#closed) return;
    this.#idleTimer = setTimeout(() => {
      for (const sandbox of this.#warm.splice(0)) sandbox.close();
    }, this.#options.idleMs).unref();
    while (this.#warm.length + this.#starting < this.#options.poolSize) {
      this.#starting += 1;
      this.#start()
        .then((sandbox) => this.#warm.push(sandbox))
        .catch((error: unknown) => this.#options.logger.warn({ err: error }, 'a Python sandbox did not start'))
        .finally(() => (this.#starting -= 1));
    }
  }
}
