import { AsyncLocalStorage } from 'node:async_hooks';

import { runCommandLine } from '../../src/main/run-command-line.ts';
import { cleanEnvironment } from '../support/start-weir.ts';
import type { Finished } from './run-weir.ts';

type Printed = { stdout: string; stderr: string };

/** The output of the running command. Other output, such as the test runner's, is not captured. */
const printed = new AsyncLocalStorage<Printed>();

let isCaptured = false;

function captureOnce(): void {
  if (isCaptured) return;
  isCaptured = true;
  for (const name of ['stdout', 'stderr'] as const) {
    const stream = process[name];
    const write = stream.write.bind(stream);
    stream.write = (piece: string | Uint8Array, ...more: any[]): boolean => {
      const own = printed.getStore();
      if (own === undefined) return write(piece, ...more);
      own[name] += typeof piece === 'string' ? piece : Buffer.from(piece).toString();
      const done: unknown = more.at(-1);
      if (typeof done === 'function') done();
      return true;
    };
    // A command permanently listens to the end of its output.
    stream.setMaxListeners(0);
  }
}

/** One after another, because each sets the exit code of the process. */
let last: Promise<unknown> = Promise.resolve();

/**
 * Runs a `weir` command to its end in this process, which saves the start time of a process. `runWeir` runs it as its
 * users do; `commands.deep.test.ts` compares both for each command.
 */
export function runCommand(words: readonly string[], environment: Readonly<Record<string, string>> = {}): Promise<Finished> {
  const finished = last.then(() => run(words, environment));
  last = finished.catch(() => undefined);
  return finished;
}

async function run(words: readonly string[], environment: Readonly<Record<string, string>>): Promise<Finished> {
  captureOnce();
  const own: Printed = { stdout: '', stderr: '' };
  const before = process.exitCode;
  process.exitCode = undefined;
  try {
    await printed.run(own, () => runCommandLine(words, cleanEnvironment(environment)));
    return { code: Number(process.exitCode ?? 0), ...own };
  } finally {
    process.exitCode = before;
  }
}

/** The output of a `weir` command. Rejects if it failed. */
export async function commandOutput(words: readonly string[], environment: Readonly<Record<string, string>>): Promise<string> {
  const { code, stdout, stderr } = await runCommand(words, environment);
  if (code !== 0) throw new Error(`weir ${words.join(' ')} ended with ${code}: ${stderr}`);
  return stdout.trim();
}
