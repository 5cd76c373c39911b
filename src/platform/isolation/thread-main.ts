import { serialize } from 'node:v8';
import { parentPort } from 'node:worker_threads';

import { lowerThreadPriority } from '../lower-thread-priority.ts';
import type { JobContext, JobFailure, ThreadOrder, ThreadReport } from './isolated-job.ts';

/** The program of a job thread. Untrusted bytes can harm their parser only here. */

type Run = (input: unknown, context: JobContext<unknown, unknown>) => unknown;

type Loaded = { readonly run: Run; readonly prepare?: (input: unknown) => Promise<unknown> };

const modules = new Map<string, Promise<Loaded>>();
const questions = new Map<number, PromiseWithResolvers<unknown>>();
let lastQuestion = 0;

function tell(report: ThreadReport, transferred: readonly ArrayBuffer[] = []): void {
  parentPort?.postMessage(report, [...transferred]);
}

async function load(moduleUrl: string): Promise<Loaded> {
  const loading = modules.get(moduleUrl) ?? (import(moduleUrl) as Promise<Loaded>);
  modules.set(moduleUrl, loading);
  return await loading;
}

const describe = (error: unknown): string => (error instanceof Error ? error.message : String(error));

async function work(order: Extract<ThreadOrder, { type: 'run' }>): Promise<void> {
  const { id, outputBytesMax } = order;
  const fail = (failure: JobFailure, message: string): void => tell({ type: 'failed', id, failure, message });
  let run: Run;
  try {
    const loaded = await load(order.moduleUrl);
    await loaded.prepare?.(order.input);
    run = loaded.run;
  } catch (error) {
    // A failed import is kept, so the thread would fail for every later job. Another one may have what this one lacked.
    return fail('crashed', `its code could not be loaded: ${describe(error)}`);
  }
  try {
    tell({ type: 'began', id });
    const output = serialize(await run(order.input, { ask: (value, transferred) => ask(id, value, transferred) }));
    if (output.length > outputBytesMax) fail('too-much-output', `its result is larger than ${outputBytesMax} bytes`);
    else tell({ type: 'done', id, output }, [output.buffer]);
  } catch (error) {
    fail('threw', describe(error));
  }
}

async function ask(id: number, value: unknown, transferred?: readonly ArrayBuffer[]): Promise<unknown> {
  const question = (lastQuestion += 1);
  const asked = Promise.withResolvers<unknown>();
  questions.set(question, asked);
  tell({ type: 'ask', id, question, value }, transferred);
  return await asked.promise.finally(() => questions.delete(question));
}

parentPort?.on('message', (order: ThreadOrder) => {
  if (order.type === 'run') void work(order);
  else if (order.type === 'answer') questions.get(order.question)?.resolve(order.value);
  else questions.get(order.question)?.reject(new Error(order.message));
});

lowerThreadPriority();
