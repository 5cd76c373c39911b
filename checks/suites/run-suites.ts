import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

import { root } from '../source-files.ts';

/**
 * Runs the suites that match the patterns, several at once:
 * `node checks/suites/run-suites.ts --at-once 4 --limit-ms 240000 "conformance/**"`.
 * A process takes longer to load Weir than most suites take to run. So there are as many processes as suites at once,
 * and each process runs suites until none is left. The run prints one line per suite. If a process fails, the run
 * prints everything that this process wrote. The exit code is 1 if a test failed, if a test took longer than the limit
 * or a suite twice as long, or if a process did not end by itself.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { 'at-once': { type: 'string', default: '1' }, 'limit-ms': { type: 'string', default: '240000' } },
});
const limitMs = Number(values['limit-ms']);
const suiteLimitMs = 2 * limitMs;
/** The limit for timers and connections that the last suite of a process left open. */
const endsWithinMs = 60_000;
const worker = join(import.meta.dirname, 'suite-worker.ts');

const found = globSync(positionals, { cwd: root }).toSorted();
const waiting = [...found];
const totals = new Map<string, number>();

const print = (text: string): void => void process.stdout.write(`${text}\n`);

type Started = { readonly child: ChildProcess; readonly closed: Promise<unknown>; readonly printed: () => string };

function start(): Started {
  const options = ['--import', './checks/property-seed.ts', '--test-reporter=spec', `--test-timeout=${limitMs}`];
  const child = spawn(process.execPath, [...options, worker], { cwd: root, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', (text: string) => (printed += text));
  return { child, closed: once(child, 'close'), printed: () => printed };
}

/** Processor time of a process and its ended children. NaN where the system has no /proc. */
function processorSeconds(pid: number | undefined): number {
  try {
    // The name may contain anything. After it, fields 12 to 15 are the times, in hundredths of a second.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) / 100, 0);
  } catch {
    return NaN;
  }
}

/** Runs a suite. Returns false if the process ended before the suite did, whatever the exit code. */
async function runSuite({ child, closed }: Started, file: string): Promise<boolean> {
  const [startedAtMs, spent] = [performance.now(), processorSeconds(child.pid)];
  const late = setTimeout(() => child.kill('SIGKILL'), suiteLimitMs);
  child.send(resolve(root, file));
  const hasEnded = await Promise.race([once(child, 'message').then(() => true), closed.then(() => false)]);
  clearTimeout(late);
  const [wall, processor] = [(performance.now() - startedAtMs) / 1000, processorSeconds(child.pid) - spent];
  print(
    `${file}${hasEnded ? '' : ' DID NOT END,'} ${wall.toFixed(1)} s${Number.isNaN(processor) ? '' : ` (${processor.toFixed(1)} s of processor time)`}`,
  );
  return hasEnded;
}

/** Asks a process to end. Returns whether it ended by itself, with exit code 0. */
async function endsWell({ child, closed, printed }: Started, what: string): Promise<boolean> {
  const late = setTimeout(() => child.kill('SIGKILL'), endsWithinMs);
  if (child.connected) child.send('');
  await closed;
  clearTimeout(late);
  for (const [, name = '', count] of printed().matchAll(/^ℹ (tests|pass|fail|cancelled|skipped|todo) (\d+)$/gm))
    totals.set(name, (totals.get(name) ?? 0) + Number(count));
  if (child.exitCode === 0) return true;
  print(`${printed()}\n${what} ended with ${child.signalCode ?? String(child.exitCode)}`);
  return false;
}

/** Runs suites in one process until none is left. Starts another process if the first one dies. */
async function runLane(): Promise<boolean> {
  let started: Started | undefined;
  let areGood = true;
  for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
    started ??= start();
    if (await runSuite(started, file)) continue;
    await endsWell(started, file);
    areGood = false;
    started = undefined;
  }
  return (started === undefined || (await endsWell(started, 'a process of several suites'))) && areGood;
}

const lanes = await Promise.all(Array.from({ length: Number(values['at-once']) }, runLane));
print([...totals].map(([name, count]) => `${name} ${count}`).join(', '));
// A run without suites proves nothing.
if (found.length === 0 || lanes.includes(false)) process.exitCode = 1;
