import { createVideoTasks, type VideoTasks } from '../../create-video-tasks.ts';
import type { VideoTasksOptions, Wait } from '../../task-parts.ts';

/** What happens to a call that leaves a process: before it has done anything, or when it has and nobody hears of it. */
export type Mishap = 'none' | 'killed-before' | 'killed-after' | 'failed-before' | 'failed-after';

/** A process that may die at any call that it makes: before the call has done anything, or when it has and nobody hears of it. */
export class SimulatedProcess {
  isAlive = true;
  readonly tasks: VideoTasks;
  readonly #mishap: () => Mishap;

  constructor(options: VideoTasksOptions & { readonly wait: Wait }, mishap: () => Mishap) {
    this.#mishap = mishap;
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

  /** Whatever it waits for never comes: that is what a killed process is, seen from outside. */
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
      const mishap = this.#mishap();
      if (mishap === 'killed-before') this.isAlive = false;
      if (!this.isAlive) return await never();
      if (mishap === 'failed-before') throw new Error('the connection was refused');
      const result = await work();
      if (mishap === 'killed-after') this.isAlive = false;
      if (mishap === 'failed-after') throw new Error('the connection was lost before the answer');
      return result;
    });
  }

  #guardAll<Part extends object>(part: Part): Part {
    return new Proxy(part, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        // What a port of the lifecycle does is always asynchronous.
        return (...values: unknown[]): Promise<unknown> =>
          this.call(async () => await (Reflect.apply(member, target, values) as Promise<unknown>));
      },
    });
  }
}

const never = <Result>(): Promise<Result> => new Promise<Result>(() => {});
