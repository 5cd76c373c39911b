import { createVideoTasks, type VideoTasks } from '../../create-video-tasks.ts';
import type { VideoTasksOptions, Wait } from '../../task-parts.ts';

/**
 * What happens to an outgoing call of a process: a failure before its effect, or after its effect but before the
 * answer.
 */
export type CrashPoint = 'none' | 'killed-before' | 'killed-after' | 'failed-before' | 'failed-after';

/** A process that may die at any outgoing call, before or after its effect. */
export class SimulatedProcess {
  isAlive = true;
  readonly tasks: VideoTasks;
  readonly #crashPoint: () => CrashPoint;

  constructor(options: VideoTasksOptions & { readonly wait: Wait }, crashPoint: () => CrashPoint) {
    this.#crashPoint = crashPoint;
    const { store, upstreams, storage, wait } = options;
    this.tasks = createVideoTasks({
      ...options,
      store: this.#guardAll(store),
      upstreams: this.#guardAll(upstreams),
      storage: this.#guardAll(storage),
      wait: (ms, signal) => this.#whileAlive(() => wait(ms, signal)),
    });
    this.tasks.start();
  }

  /** After a kill, promises of the process never resolve. */
  async #whileAlive<Result>(work: () => Promise<Result>): Promise<Result> {
    if (!this.isAlive) return await never();
    try {
      const result = await work();
      return this.isAlive ? result : await never();
    } catch (error) {
      if (this.isAlive) throw error;
      return await never();
    }
  }

  async call<Result>(work: () => Promise<Result>): Promise<Result> {
    return await this.#whileAlive(async () => {
      const crashPoint = this.#crashPoint();
      if (crashPoint === 'killed-before') this.isAlive = false;
      if (!this.isAlive) return await never();
      if (crashPoint === 'failed-before') throw new Error('the connection was refused');
      const result = await work();
      if (crashPoint === 'killed-after') this.isAlive = false;
      if (crashPoint === 'failed-after') throw new Error('the connection was lost before the answer');
      return result;
    });
  }

  #guardAll<Part extends object>(part: Part): Part {
    return new Proxy(part, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        // Ports of the lifecycle are always asynchronous.
        return (...values: unknown[]): Promise<unknown> =>
          this.call(async () => await (Reflect.apply(member, target, values) as Promise<unknown>));
      },
    });
  }
}

const never = <Result>(): Promise<Result> => new Promise<Result>(() => {});
