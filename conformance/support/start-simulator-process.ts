import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { RunningSimulator } from 'weir-simulator';

import type { Truth } from './audit.ts';
import { compileCache } from './start-weir.ts';

/** Simulated vendors in a process of their own, whose record of every call is in a file. */
export type SimulatorProcess = {
  readonly addresses: RunningSimulator['addresses'];
  /** The simulated SearXNG. Its pages are on the same port. */
  readonly searchUrl: string;
  /** The latest record of each call in the file. */
  readonly truths: () => readonly Truth[];
  readonly [Symbol.asyncDispose]: () => Promise<void>;
};

const main = join(import.meta.dirname, '../../simulator/src/main.ts');
const readyWithinMs = 60_000;

export async function startSimulatorProcess(
  recordFile: string,
  options: {
    readonly pace?: string;
    /** How video jobs go. */
    readonly video?: string;
    /** Faults of every n-th call, repeatedly, in the format of the control server. */
    readonly faults?: readonly { readonly fault: string; readonly every: number }[];
  } = {},
): Promise<SimulatorProcess> {
  const child = spawn(process.execPath, [main, '--record-file', recordFile, '--pace', options.pace ?? '', '--video', options.video ?? ''], {
    stdio: ['ignore', 'pipe', 'pipe'],
    // Compiling its sources takes half of its start.
    env: { ...process.env, NODE_COMPILE_CACHE: compileCache },
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  let printed = '';
  const addresses = await new Promise<Record<string, string>>((resolve, reject) => {
    const fail = (reason: string): void => reject(new Error(`the simulator ${reason}: ${printed}`));
    const timer = setTimeout(() => fail('was not ready in time'), readyWithinMs);
    const collect = (text: string): void => {
      printed += text;
      if (!/^control \S+\n/m.test(printed)) return;
      clearTimeout(timer);
      resolve(Object.fromEntries([...printed.matchAll(/^(\S+) (http\S+)$/gm)].map(([, name, address]) => [name, address])));
    };
    child.stdout.setEncoding('utf8').on('data', collect);
    child.stderr.setEncoding('utf8').on('data', collect);
    child.once('exit', () => fail('ended'));
  });
  if (options.faults !== undefined) {
    const faults = options.faults.map((fault) => ({ ...fault, times: null }));
    const reply = await fetch(`${addresses['control']}/settings`, { method: 'POST', body: JSON.stringify({ faults }) });
    if (!reply.ok) throw new Error(`the simulator refuses the faults: ${await reply.text()}`);
  }
  return {
    addresses: addresses as RunningSimulator['addresses'],
    searchUrl: addresses['search'] ?? '',
    truths: () => {
      const last = new Map<number, Truth>();
      for (const line of readFileSync(recordFile, 'utf8').split('\n').slice(0, -1)) {
        // The last line may be incomplete, and so may an earlier one whose writer was killed.
        if (!line.endsWith('}')) continue;
        const truth = JSON.parse(line) as Truth;
        last.set(truth.id, truth);
      }
      return [...last.values()];
    },
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
