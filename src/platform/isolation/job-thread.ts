import { deserialize } from 'node:v8';
import { Worker } from 'node:worker_threads';

import { threadEnvironment } from '../thread-environment.ts';
import { JobError, type ThreadOrder, type ThreadReport } from './isolated-job.ts';

/** A job for a thread. */
export type JobOrder = {
  readonly name: string;
  readonly moduleUrl: string;
  readonly input: unknown;
  readonly transferred: readonly ArrayBuffer[];
  /** Counted from when the job's module is loaded. */
  readonly timeoutMs: number;
  readonly outputBytesMax: number;
  readonly answer: ((question: unknown) => unknown) | undefined;
};

/** The most time to start a thread and load a module, on a busy machine. */
const startMsMax = 20_000;
/** Time between two checks of the memory of a job. */
const watchMs = 50;
/** A heap has garbage too: a job is ended when its heap is this many times as large as its limit. */
const garbageFactor = 2;
/**
 * How far V8's own limit is above ours, in MB. V8 ends the whole process, not the thread, if one allocation exceeds its
 * limit by more than 16 MB, as a long list does when it grows. So the watch ends a thread long before.
 */
const marginMegabytes = 1024;
/** A job that asks more often is in an endless loop. */
const questionsMax = 1_000_000;
const megabyte = 1024 * 1024;

type Current = {
  readonly id: number;
  readonly order: JobOrder;
  readonly resolve: (output: unknown) => void;
  readonly reject: (reason: unknown) => void;
  timer: NodeJS.Timeout | undefined;
  watch: NodeJS.Timeout | undefined;
  questions: number;
  /** Whether a question about its memory has no answer yet. */
  isAsked: boolean;
};

let lastId = 0;

/** A thread that does one job at a time. It keeps the process alive only during a job. */
export class JobThread {
  readonly #worker: Worker;
  readonly #memoryMegabytes: number;
  #current: Current | undefined;
  #ending: Promise<void> | undefined;
  /** Number of jobs that it has begun. */
  jobs = 0;

  constructor(name: string, memoryMegabytes: number) {
    this.#memoryMegabytes = memoryMegabytes;
    this.#worker = new Worker(new URL('./thread-main.ts', import.meta.url), {
      env: threadEnvironment(),
      execArgv: [],
      name,
      resourceLimits: {
        maxOldGenerationSizeMb: garbageFactor * memoryMegabytes + marginMegabytes,
        maxYoungGenerationSizeMb: 32,
        stackSizeMb: 4,
      },
      // Output of libraries about broken files is of no use.
      stdout: true,
      stderr: true,
    });
    this.#worker.stdout.resume();
    this.#worker.stderr.resume();
    this.#worker.unref();
    this.#worker.on('message', (report: ThreadReport) => this.#hear(report));
    this.#worker.on(
      'messageerror',
      (error) => void this.end(new JobError('crashed', 'its thread sent an unreadable message', { cause: error })),
    );
    this.#worker.on('error', (error) => void this.end(this.#describe(error)));
    this.#worker.on('exit', (code) => void this.end(new JobError('crashed', `its thread ended with code ${code}`)));
  }

  /** Whether it can do another job. */
  get isUsable(): boolean {
    return this.#ending === undefined;
  }

  /** Does a job. Rejects with JobError, or with the reason that `end` received. */
  run(order: JobOrder): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const id = (lastId += 1);
    const current: Current = { id, order, resolve, reject, timer: undefined, watch: undefined, questions: 0, isAsked: false };
    this.#current = current;
    this.jobs += 1;
    current.timer = setTimeout(() => void this.end(new JobError('crashed', `${order.name} was not started in time`)), startMsMax);
    this.#worker.ref();
    const { moduleUrl, input, outputBytesMax } = order;
    try {
      this.#say({ type: 'run', id, moduleUrl, input, outputBytesMax }, order.transferred);
    } catch (error) {
      this.#settle(id)?.reject(error);
    }
    return promise;
  }

  /** Terminates the thread; its job, if any, rejects with `reason`. Resolves when the thread has ended. */
  end(reason: unknown): Promise<void> {
    const current = this.#current;
    if (current !== undefined) this.#settle(current.id)?.reject(reason);
    this.#ending ??= this.#worker.terminate().then(() => {});
    return this.#ending;
  }

  #say(order: ThreadOrder, transferred: readonly ArrayBuffer[] = []): void {
    this.#worker.postMessage(order, transferred);
  }

  #hear(report: ThreadReport): void {
    const current = this.#current;
    // Late messages of a finished job are ignored.
    if (current?.id !== report.id) return;
    if (report.type === 'began') this.#limit(current);
    else if (report.type === 'ask') void this.#answer(current, report.question, report.value);
    else if (report.type === 'failed') this.#hearFailure(new JobError(report.failure, `${current.order.name}: ${report.message}`));
    else this.#settle(report.id)?.resolve(deserialize(report.output));
  }

  #hearFailure(error: JobError): void {
    if (error.failure === 'crashed') void this.end(error);
    else if (this.#current !== undefined) this.#settle(this.#current.id)?.reject(error);
  }

  #limit(current: Current): void {
    const { name, timeoutMs } = current.order;
    clearTimeout(current.timer);
    current.timer = setTimeout(() => void this.end(new JobError('too-long', `${name} took longer than ${timeoutMs} ms`)), timeoutMs);
    current.watch = setInterval(() => this.#watchMemory(current), watchMs);
  }

  /** The answer comes from the thread, also from a loop, but not before a single native call of it has ended. */
  #watchMemory(current: Current): void {
    if (current.isAsked) return;
    current.isAsked = true;
    this.#worker.getHeapStatistics().then(
      ({ external_memory: buffers, used_heap_size: heap }) => {
        current.isAsked = false;
        const limit = this.#memoryMegabytes * megabyte;
        const isTooMuch = buffers > limit || heap > garbageFactor * limit;
        if (isTooMuch && this.#current?.id === current.id) void this.end(this.#tooMuchMemory());
      },
      () => {
        // The thread has ended, which its own events report.
      },
    );
  }

  async #answer(current: Current, question: number, value: unknown): Promise<void> {
    current.questions += 1;
    if (current.questions > questionsMax) {
      await this.end(new JobError('too-long', `${current.order.name} asked more than ${questionsMax} times`));
      return;
    }
    const reply = (order: ThreadOrder): void => {
      if (this.#current?.id === current.id) this.#say(order);
    };
    try {
      reply({ type: 'answer', question, value: await current.order.answer?.(value) });
    } catch (error) {
      // Also if the answer cannot be cloned.
      reply({ type: 'refusal', question, message: error instanceof Error ? error.message : String(error) });
    }
  }

  #settle(id: number): Current | undefined {
    const current = this.#current;
    if (current?.id !== id) return undefined;
    clearTimeout(current.timer);
    clearInterval(current.watch);
    this.#current = undefined;
    this.#worker.unref();
    return current;
  }

  #describe(error: unknown): JobError {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY') return this.#tooMuchMemory();
    return new JobError('crashed', `its thread died: ${error instanceof Error ? error.message : 'unknown error'}`, { cause: error });
  }

  #tooMuchMemory(): JobError {
    return new JobError('too-much-memory', `${this.#current?.order.name ?? 'it'} took more than ${this.#memoryMegabytes} MB of memory`);
  }
}
