import { spawn, spawnSync } from 'node:child_process';
import { on, once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';

import { cpuSecondsOf } from './cpu-seconds.ts';
import { lowerQuartile } from './measure-load.ts';

/**
 * How long `weir start` takes until its gateway listens, what it takes while it is idle, and how long a command takes,
 * each with a data directory that exists: `node bench/starts.ts`, and a part of `npm run bench`.
 */
const rounds = 5;
/** By then the process has released the memory of its start. */
const idleAfterMs = 6000;
const readyMsMax = 60_000;
const program = join(import.meta.dirname, '../weir.js');
const listening = /gateway http:\/\/127\.0\.0\.1:\d+/;

type Taken = { readonly ms: number; readonly cpuMs: number };

const environmentOf = (dataDirectory: string, consolePort = '0'): Record<string, string> => ({
  PATH: process.env['PATH'] ?? '',
  WEIR_PORT: '0',
  WEIR_MONITOR_PORT: '0',
  WEIR_CONSOLE_PORT: consolePort,
  WEIR_DATA_DIR: dataDirectory,
  WEIR_API_KEY: 'bench-key-of-the-start',
  WEIR_LOG_LEVEL: 'warn',
  WEIR_BILLING_TOKEN: 'bench-billing-token',
});

/** Rejects if a program does not print it in time, or ends. */
async function saysThat(output: Readable, pattern: RegExp): Promise<void> {
  let printed = '';
  for await (const [piece] of on(output, 'data', { close: ['end'], signal: AbortSignal.timeout(readyMsMax) })) {
    printed += String(piece);
    if (pattern.test(printed)) return;
  }
  throw new Error(`The program ended; it printed: ${printed}`);
}

type Started = Taken & { readonly residentMb: number };

/**
 * @param residesMs how long the process is left alone before its memory is read
 * @param consolePort `off` leaves the console out
 */
async function start(dataDirectory: string, residesMs: number, consolePort?: string): Promise<Started> {
  const begunMs = performance.now();
  const child = spawn(process.execPath, [program, 'start'], {
    cwd: dataDirectory,
    env: environmentOf(dataDirectory, consolePort),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  try {
    await saysThat(child.stdout, listening);
    const taken = { ms: performance.now() - begunMs, cpuMs: cpuSecondsOf(child.pid) * 1000 };
    await wait(residesMs);
    const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8')) ?? [];
    return { ...taken, residentMb: Number(kilobytes) / 1024 };
  } finally {
    child.kill('SIGTERM');
    await exited;
  }
}

/** Processor time of the programs that this one has waited for. */
function cpuMsOfEnded(): number {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[13]) + Number(fields[14])) * 10;
}

function run(dataDirectory: string, words: readonly string[]): Taken {
  const [begunMs, cpuMs] = [performance.now(), cpuMsOfEnded()];
  const done = spawnSync(process.execPath, words, { env: environmentOf(dataDirectory), encoding: 'utf8', timeout: readyMsMax });
  if (done.status !== 0) throw new Error(`${words.join(' ')}: ${done.stderr}`);
  return { ms: performance.now() - begunMs, cpuMs: cpuMsOfEnded() - cpuMs };
}

const commands: Readonly<Record<string, readonly string[]>> = {
  'an empty program of Node': ['--eval', '0'],
  '`weir --version`': [program, '--version'],
  '`weir keys list`': [program, 'keys', 'list'],
};

function describe(name: string, taken: readonly Taken[], residentMb: string): string {
  const cell = (read: (each: Taken) => number): string => Math.round(lowerQuartile(taken.map(read))).toString();
  return `| ${[name, cell(({ ms }) => ms), cell(({ cpuMs }) => cpuMs), residentMb].join(' | ')} |`;
}

const residentOf = (starts: readonly Started[]): string => Math.round(lowerQuartile(starts.map(({ residentMb }) => residentMb))).toString();

/** A table of the start and of commands. */
export async function startsTable(): Promise<string> {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'weir-bench-start-'));
  try {
    // The first start makes the database and compiles the code.
    await start(dataDirectory, 1000);
    const [starts, withoutConsole]: [Started[], Started[]] = [[], []];
    for (let round = 0; round < rounds; round += 1) {
      starts.push(await start(dataDirectory, idleAfterMs));
      withoutConsole.push(await start(dataDirectory, idleAfterMs, 'off'));
    }
    const ran = Object.entries(commands).map(([name, words]) => {
      run(dataDirectory, words);
      return describe(
        name,
        Array.from({ length: rounds }, () => run(dataDirectory, words)),
        '',
      );
    });
    return [
      '## start, command, and memory of an idle process',
      '',
      `Lower quartile of ${rounds}. \`weir start\` has simulated vendors, monitor and console; its time ends when the gateway`,
      `listens, and its memory is read ${idleAfterMs / 1000} s later.`,
      '',
      '| | ms | CPU ms | resident MB |',
      '|---|---|---|---|',
      describe('`weir start`', starts, residentOf(starts)),
      describe('`weir start` without the console', withoutConsole, residentOf(withoutConsole)),
      ...ran,
      '',
    ].join('\n');
  } finally {
    rmSync(dataDirectory, { recursive: true, force: true });
  }
}

if (import.meta.main) console.log(await startsTable());
