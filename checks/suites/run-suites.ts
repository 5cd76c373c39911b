import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

import { cardRows } from '../../conformance/card/rows.ts';
import { root } from '../source-files.ts';
import { choosePart, tiers } from './tiers.ts';

/**
 * Runs suites, several at once: those of tiers (`tiers.ts`), `node checks/suites/run-suites.ts --tier unit`, or those
 * that match patterns, `--at-once 4 --limit-ms 240000 "conformance/**"`.
 * A process takes longer to load Weir than most suites take to run. So there are as many processes as suites at once,
 * and each process runs suites until none is left. The run prints one line per suite. If a process fails, the run
 * prints its failed tests last, where the end of a long log shows them. The exit code is 1 if a test failed, if a test
 * took longer than the limit or a suite twice as long, or if a process did not end by itself.
 *
 * With WEIR_SUITE_ATTEMPTS=2, which CI sets, each failed suite runs once more, alone. If it passes then, the run passes
 * and lists the suite as unsteady: a busy machine must not refuse a good commit, and nobody should overlook the suite.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    tier: { type: 'string', multiple: true, default: [] },
    'at-once': { type: 'string', default: '1' },
    'limit-ms': { type: 'string', default: '240000' },
  },
});
const chosen = values.tier.map((name) => tiers[name] ?? fail(`There is no tier ${name}; there are ${Object.keys(tiers).join(', ')}.`));
const limitMs = Math.max(...(chosen.length > 0 ? chosen.map((tier) => tier.limitMs) : [Number(values['limit-ms'])]));
const atOnce = Math.max(...(chosen.length > 0 ? chosen.map((tier) => tier.atOnce) : [Number(values['at-once'])]));
const suiteLimitMs = 2 * limitMs;
/** The limit for timers and connections that the last suite of a process left open. */
const endsWithinMs = 60_000;
/** A file to which the output of all suites is appended, for the reliability card (conformance/card). */
const report = process.env.WEIR_SUITE_REPORT;
/** All processes of a run draw their properties with one seed (checks/property-seed.ts), which a failure names. */
const askedSeed = process.env.WEIR_PROPERTY_SEED ?? '20261122';
const seed = askedSeed === 'random' ? String(Math.floor(Math.random() * 2 ** 31)) : askedSeed;
const worker = join(import.meta.dirname, 'suite-worker.ts');

const find = (patterns: readonly string[]): readonly string[] => globSync(patterns, { cwd: root });
const onCard = new Set(cardRows.flatMap(({ proofs }) => proofs.map(({ file }) => file)));
const inTiers = chosen.flatMap(({ patterns, inParts }) =>
  inParts === true ? choosePart(find(patterns), process.env.WEIR_SUITE_PART, (file) => onCard.has(file)) : find(patterns),
);
const found = [...find(positionals), ...inTiers].toSorted();
/** The longest suites start first, so that none of them runs alone at the end. */
const longest = new Set(
  globSync(
    chosen.flatMap(({ first }) => first),
    { cwd: root },
  ),
);
const waiting = [...found.filter((file) => longest.has(file)), ...found.filter((file) => !longest.has(file))];
/** Suites in which a test failed, and suites of which the process did not end by itself. */
const failed = new Set<string>();
const failures: string[] = [];
const totals = new Map<string, number>();

function fail(reason: string): never {
  throw new Error(reason);
}

const print = (text: string): void => void process.stdout.write(`${text}\n`);

const running = new Set<ChildProcess>();

/** Ends a process with the programs that its suites started and that are not daemons. */
function kill({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // All of them have ended.
  }
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(signal, () => {
    for (const child of running) kill(child);
    process.exit(1);
  });

type Started = { readonly child: ChildProcess; readonly closed: Promise<unknown>; readonly printed: () => string };

function start(): Started {
  const before = ['property-seed.ts', 'suites/lighten-runner.ts', 'suites/bundled-threads.ts'];
  const imports = before.flatMap((file) => ['--import', `./checks/${file}`]);
  const options = [...imports, '--test-reporter=spec', `--test-timeout=${limitMs}`];
  const env = { ...process.env, WEIR_PROPERTY_SEED: seed };
  // A group of its own: programs that a killed suite started end with it.
  const child = spawn(process.execPath, [...options, worker], { cwd: root, stdio: ['ignore', 'pipe', 'pipe', 'ipc'], detached: true, env });
  running.add(child);
  child.once('close', () => running.delete(child));
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
  const late = setTimeout(() => kill(child), suiteLimitMs);
  child.send(resolve(root, file));
  const hasEnded = await Promise.race([once(child, 'message').then(() => true), closed.then(() => false)]);
  clearTimeout(late);
  const [wall, processor] = [(performance.now() - startedAtMs) / 1000, processorSeconds(child.pid) - spent];
  print(
    `${file}${hasEnded ? '' : ' DID NOT END,'} ${wall.toFixed(1)} s${Number.isNaN(processor) ? '' : ` (${processor.toFixed(1)} s of processor time)`}`,
  );
  return hasEnded;
}

/** Asks a process to end, and notes which of its suites failed. If none of them is to blame, all of them are. */
async function end({ child, closed, printed }: Started, suites: readonly string[]): Promise<void> {
  const late = setTimeout(() => kill(child), endsWithinMs);
  if (child.connected) child.send('');
  await closed;
  clearTimeout(late);
  for (const [, name = '', count] of printed().matchAll(/^ℹ (tests|pass|fail|cancelled|skipped|todo) (\d+)$/gm))
    totals.set(name, (totals.get(name) ?? 0) + Number(count));
  if (report !== undefined) appendFileSync(report, printed());
  if (child.exitCode === 0) return;
  const reported = new Set([...printed().matchAll(/^✖ (\/.+\.[a-z]+) \(/gm)].map(([, path]) => path));
  const guilty = suites.filter((file) => reported.has(resolve(root, file)));
  for (const file of guilty.length > 0 ? guilty : suites) failed.add(file);
  const start = printed().indexOf('✖ failing tests:');
  const ending = `the process of ${suites.at(-1)} ended with ${child.signalCode ?? String(child.exitCode)}`;
  failures.push(`${start < 0 ? printed() : printed().slice(start)}\n${ending}, WEIR_PROPERTY_SEED=${seed}`);
}

/** Runs suites in one process until none is left. Starts another process if the first one dies. */
async function runLane(): Promise<void> {
  let started: Started | undefined;
  let suites: string[] = [];
  for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
    started ??= start();
    suites.push(file);
    if (await runSuite(started, file)) continue;
    await end(started, suites);
    // If a late error of an earlier suite ended the process, this one runs again, in the next process.
    const [, culprit = file] = /^✖ (\/.+\.[a-z]+) \(an error that nobody caught\)$/m.exec(started.printed()) ?? [];
    if (resolve(root, culprit) === resolve(root, file)) failed.add(file);
    else waiting.unshift(file);
    started = undefined;
    suites = [];
  }
  if (started !== undefined) await end(started, suites);
}

/** Runs each failed suite once more, alone. Suites that pass now are unsteady and no longer failed. */
async function runFailedAgain(): Promise<void> {
  const unsteady: string[] = [];
  const again = failed.values().toArray();
  failed.clear();
  for (const file of again) {
    waiting.push(file);
    await runLane();
    if (!failed.has(file)) unsteady.push(file);
  }
  if (unsteady.length > 0) print(`unsteady, passed when it ran again alone: ${unsteady.join(', ')}`);
}

await Promise.all(Array.from({ length: atOnce }, runLane));
if (failed.size > 0 && process.env.WEIR_SUITE_ATTEMPTS === '2') await runFailedAgain();
print([...totals].map(([name, count]) => `${name} ${count}`).join(', '));
for (const text of failures) print(text);
for (const file of failed) print(`FAILED ${file}`);
// A run without suites proves nothing.
if (found.length === 0 || failed.size > 0) process.exitCode = 1;
