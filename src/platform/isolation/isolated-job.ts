/** Gives a job access to the code that started it. */
export type JobContext<Question = never, Answer = never> = {
  /**
   * Asks the code that started the job, which answers on the main thread: for example with a piece of a file. Rejects
   * if the answer is a refusal. `transferred` buffers are not copied.
   */
  readonly ask: (question: Question, transferred?: readonly ArrayBuffer[]) => Promise<Answer>;
};

/**
 * A module that does a job. It is loaded only in threads. `run` does one job; its result or error must survive
 * structured cloning. `prepare` loads what an input requires, such as a library for its format; its time does not
 * count.
 */
export type JobModule = {
  readonly run: (input: never, context: never) => unknown;
  readonly prepare?: (input: never) => Promise<unknown>;
};

/** Names a job without loading its module. */
export type IsolatedJob<Module extends JobModule> = {
  /** The name in metrics and errors. */
  readonly name: string;
  readonly moduleUrl: string;
  /** Never set: it carries the types of input and output. */
  readonly module?: Module;
};

export type JobInput<Module extends JobModule> = Parameters<Module['run']>[0];
export type JobOutput<Module extends JobModule> = Awaited<ReturnType<Module['run']>>;
type Asks<Module extends JobModule> = Module['run'] extends (input: never, context: JobContext<infer Question, infer Answer>) => unknown
  ? { readonly question: Question; readonly answer: Answer }
  : never;
export type JobQuestion<Module extends JobModule> = Asks<Module>['question'];
export type JobAnswer<Module extends JobModule> = Asks<Module>['answer'];

/**
 * Declares a job: `isolatedJob<typeof MeasureJob>('measure-sound', new URL('./measure-job.ts', import.meta.url))`. The
 * module is imported only as a type.
 */
export function isolatedJob<Module extends JobModule>(name: string, module: URL): IsolatedJob<Module> {
  return { name, moduleUrl: module.href };
}

/** Why a job has failed. */
export type JobFailure =
  /** It exceeded its time. Its thread was terminated. */
  | 'too-long'
  /** It exceeded its memory. Its thread was terminated. */
  | 'too-much-memory'
  /** Its result is too large. */
  | 'too-much-output'
  /** It threw. */
  | 'threw'
  /** Its thread exited, or did not start. */
  | 'crashed'
  /** Too many jobs wait, of all tenants or of this one. It was not started. */
  | 'too-busy'
  /** The pool is closed. */
  | 'closed';

export class JobError extends Error {
  readonly failure: JobFailure;
  constructor(failure: JobFailure, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.name = 'JobError';
    this.failure = failure;
  }
}

/** A message to a thread, which has one job at a time. */
export type ThreadOrder =
  | {
      readonly type: 'run';
      readonly id: number;
      readonly moduleUrl: string;
      readonly input: unknown;
      readonly outputBytesMax: number;
    }
  | { readonly type: 'answer'; readonly question: number; readonly value: unknown }
  | { readonly type: 'refusal'; readonly question: number; readonly message: string };

/** A message from a thread. `began` is sent when the job's module is loaded; the time before does not count. */
export type ThreadReport =
  | { readonly type: 'began'; readonly id: number }
  | { readonly type: 'ask'; readonly id: number; readonly question: number; readonly value: unknown }
  | { readonly type: 'done'; readonly id: number; readonly output: Uint8Array }
  | { readonly type: 'failed'; readonly id: number; readonly failure: JobFailure; readonly message: string };
