import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';

import type { RunningWeir } from './start-weir.ts';

/** One query of the monitor. */
export type MeasuredQuestion = { readonly path: string; readonly body: object };

/** The cost of one query that is sent several times at once, over HTTP. */
export type MeasuredAnswers = {
  readonly firstByteSeconds: number;
  /** Until the last answer had arrived completely. */
  readonly seconds: number;
  readonly bytes: number;
  /** Processor time of all threads of the monitor. */
  readonly cpuSeconds: number;
  /** The highest resident memory of the monitor's process while it answered, above its earlier value. */
  readonly moreBytes: number;
};

const run = promisify(execFile);

/**
 * Sends the queries with curl, in processes of their own, so that reading takes no time from the monitor. The slowest
 * of the simultaneous queries counts.
 */
export async function measureAnswers(weir: RunningWeir, { path, body }: MeasuredQuestion, atOnce: number): Promise<MeasuredAnswers> {
  const { pid } = weir.process;
  const before = residentKilobytes(pid, 'VmRSS');
  // From here on the system measures the maximum again.
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
  const cpuBefore = cpuSeconds(pid);
  const began = performance.now();
  const answers = await Promise.all(Array.from({ length: atOnce }, () => ask(weir, path, body)));
  const seconds = (performance.now() - began) / 1000;
  return {
    firstByteSeconds: Math.max(...answers.map(([firstByte = 0]) => firstByte)),
    seconds,
    bytes: answers[0]?.[1] ?? 0,
    cpuSeconds: cpuSeconds(pid) - cpuBefore,
    moreBytes: (residentKilobytes(pid, 'VmHWM') - before) * 1024,
  };
}

async function ask({ monitorUrl, billingToken }: RunningWeir, path: string, body: object): Promise<readonly number[]> {
  const headers = ['-H', `token: ${billingToken}`, '-H', 'Content-Type: application/json'];
  const wanted = '%{http_code} %{time_starttransfer} %{size_download}';
  const { stdout } = await run('curl', ['-sS', '-o', '/dev/null', '-w', wanted, ...headers, '-d', JSON.stringify(body), monitorUrl + path]);
  const [status, ...measured] = stdout.split(' ').map(Number);
  if (status !== 200) throw new Error(`${path} answered ${status}.`);
  return measured;
}

/** On systems without /proc, reading fails. */
function residentKilobytes(pid: number | undefined, which: 'VmRSS' | 'VmHWM'): number {
  const found = new RegExp(`^${which}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  if (found === undefined) throw new Error(`The process ${pid} has no ${which}.`);
  return Number(found);
}

/** User and system time of a process, in seconds: fields 14 and 15 of its stat file, in hundredths of a second. */
function cpuSeconds(pid: number | undefined): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
