import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';

import type { Exploration } from './explore.ts';
import type { ExploreOrder } from './explore-thread.ts';
import { guidedTargets } from './targets.ts';

/**
 * Gives every parser of outside bytes mutated files for some seconds each. Files that reach new code of the parser are
 * mutated further. `--target` selects parsers by an expression. The exit code is the verdict: no input may end a
 * process, throw an unknown error, or block an event loop.
 */
const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '60' }, target: { type: 'string', default: '' }, seed: { type: 'string', default: '1' } },
});
/** An input of a job that is not over then is ended with its thread, as the pools of the gateway do. */
const inputMsMax = 20_000;
const inputBytesMax = 65_536;
const seconds = Number(values.seconds);

let sum = 0;
let problems = 0;
for (const name of Object.keys(guidedTargets)) {
  if (!new RegExp(values.target).test(name)) continue;
  const report = await exploreInThread(name, Number(values.seed));
  sum += report.inputs;
  problems += report.findings.length;
  process.stdout.write(`${JSON.stringify({ parser: name, ...report })}\n`);
}
process.stdout.write(`${sum} inputs, ${problems} findings\n`);
process.exitCode = problems === 0 ? 0 : 1;

/** A thread that an input blocks is replaced by another with the next seed. Only on event loops this is a finding. */
async function exploreInThread(name: string, firstSeed: number): Promise<Exploration & { readonly ended: number }> {
  const endsMs = performance.now() + seconds * 1000;
  let all: Exploration = { inputs: 0, refused: 0, corpus: 0, blocks: 0, longestMs: 0, findings: [] };
  for (let ended = 0; ; ended += 1) {
    const shared = new SharedArrayBuffer(8 + inputBytesMax);
    const left = Math.max(1, (endsMs - performance.now()) / 1000);
    const order: ExploreOrder = { name, seed: firstSeed + ended, seconds: left, shared };
    const got = await runThread(order, shared);
    if ('inputs' in got) return { ...merge(all, got), ended };
    all = { ...all, inputs: all.inputs + got.count };
    const problem = got.problem ?? `an input took more than ${inputMsMax} ms`;
    const input = Buffer.from(new Uint8Array(shared, 8, Math.min(got.length, inputBytesMax))).toString('base64');
    if (got.problem !== undefined || guidedTargets[name]?.isOnLoop === true)
      all = { ...all, findings: [...all.findings, { problem, input }] };
    if (performance.now() >= endsMs || all.findings.length > 0) return { ...all, ended: ended + 1 };
  }
}

type Ended = { readonly count: number; readonly length: number; readonly problem?: string };

async function runThread(workerData: ExploreOrder, shared: SharedArrayBuffer): Promise<Exploration | Ended> {
  const thread = new Worker(new URL('./explore-thread.ts', import.meta.url), { workerData });
  const head = new Int32Array(shared, 0, 2);
  let [seen, seenMs] = [-1, performance.now()];
  const { promise: stuck, resolve } = Promise.withResolvers<Ended>();
  const timer = setInterval(() => {
    const count = Atomics.load(head, 0);
    if (count !== seen) [seen, seenMs] = [count, performance.now()];
    // Before its first input, a thread loads its code.
    else if (count > 0 && performance.now() - seenMs > inputMsMax) resolve({ count, length: Atomics.load(head, 1) });
  }, 200);
  const failed = once(thread, 'error').then(([error]): Ended => {
    const problem = error instanceof Error ? `it ended its thread: ${error.message}` : 'it ended its thread';
    return { count: Atomics.load(head, 0), length: Atomics.load(head, 1), problem };
  });
  const done = once(thread, 'message').then(([exploration]) => exploration as Exploration);
  // The losers of the race end with the thread.
  for (const each of [failed, done]) each.catch(() => undefined);
  try {
    return await Promise.race([done, failed, stuck]);
  } finally {
    clearInterval(timer);
    await thread.terminate();
  }
}

function merge(one: Exploration, other: Exploration): Exploration {
  return {
    ...other,
    inputs: one.inputs + other.inputs,
    refused: one.refused + other.refused,
    longestMs: Math.max(one.longestMs, other.longestMs),
    findings: [...one.findings, ...other.findings],
  };
}
