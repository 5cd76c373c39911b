import type { Logger } from '../../platform/log.ts';
import { waitFor } from '../../platform/wait-for.ts';

/** The members of a sandbox that the pool uses. */
export type PooledSandbox = {
  readonly isAlive: boolean;
  readonly ready: Promise<void>;
  readonly ended: Promise<void>;
  readonly close: () => void;
};

export type SandboxPoolOptions<Kept extends PooledSandbox> = {
  /** Starts a sandbox, which may not be ready yet. */
  readonly start: () => Promise<Kept>;
  /** How many ready sandboxes wait for the next request. */
  readonly poolSize: number;
  /** How many requests may have a sandbox at the same time. */
  readonly concurrencyMax: number;
  /** How long a request may wait for a sandbox. */
  readonly waitMs: number;
  /** After this time without a request, the waiting sandboxes are closed. */
  readonly idleMs: number;
  readonly logger: Logger;
};

/** The time limit for a start, which takes half a second on an idle machine. */
const readyMs = 60_000;
/** How many requests may wait for each slot. */
const waitersPerPlace = 8;

/**
 * Gives each request a sandbox of its own, which is never reused. The first request starts the first one; afterwards
 * some are kept ready.
 */
export class SandboxPool<Kept extends PooledSandbox> {
  readonly #options: SandboxPoolOptions<Kept>;
  readonly #all = new Set<Kept>();
  readonly #warm: Kept[] = [];
  readonly #waiters: (() => void)[] = [];
  #usedSlots = 0;
  #starting = 0;
  #closed = false;
  #idleTimer: NodeJS.Timeout | undefined;

  constructor(options: SandboxPoolOptions<Kept>) {
    this.#options = options;
  }

  /**
   * Returns a ready sandbox. Undefined if there is none in time: too many requests have one, or none starts. Its slot
   * is free again when it has ended. Rejects only with the signal's reason.
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
      this.#options.logger.warn({ err: error }, 'start of a Python sandbox failed');
      return undefined;
    }
    this.#leaveAfter(sandbox);
    this.#fill();
    return sandbox;
  }

  /** Kills every sandbox and starts no more. Resolves when all have ended. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#idleTimer);
    for (const waiter of this.#waiters.splice(0)) waiter();
    const all = [...this.#all];
    for (const sandbox of all) sandbox.close();
    await Promise.all(all.map((sandbox) => sandbox.ended));
  }

  /** Waits for a slot. */
  async #enter(signal: AbortSignal): Promise<boolean> {
    if (this.#closed) return false;
    if (this.#usedSlots < this.#options.concurrencyMax) {
      this.#usedSlots += 1;
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
      // The slot became free when the request was cancelled: it goes to the next one.
      else if (!this.#closed) this.#leave();
      signal.throwIfAborted();
      return false;
    }
  }

  #leave(): void {
    const next = this.#waiters.shift();
    if (next === undefined) this.#usedSlots -= 1;
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
        .catch((error: unknown) => this.#options.logger.warn({ err: error }, 'start of a Python sandbox failed'))
        .finally(() => (this.#starting -= 1));
    }
  }
}
