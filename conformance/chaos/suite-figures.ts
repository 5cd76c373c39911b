import { spawn } from 'node:child_process';
import { join } from 'node:path';

import type { Figure } from './figures.ts';

/** A test that prints figures: its file, its size, and the lines with figures. */
export type Suite = {
  readonly row: string;
  readonly what: string;
  readonly file: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** The first group of each match is a figure. */
  readonly figures: RegExp;
  /** Combines the figures into one text; if absent, the distinct figures are listed. */
  readonly sum?: (found: readonly string[]) => string;
  readonly gate: string;
  /** The promise that the first group's number must keep, if the test itself tolerates more. */
  readonly most?: { readonly of: RegExp; readonly value: number };
  readonly limitMs: number;
};

const repository = join(import.meta.dirname, '../..');
const examplesMax = 5;

/** Runs a test of another folder in a process of its own. Its bounds are its own assertions. */
export async function suiteFigure({ row, what, file, environment = {}, figures, sum, gate, most, limitMs }: Suite): Promise<Figure> {
  const child = spawn(process.execPath, ['--test', '--test-isolation=none', '--test-reporter=spec', join(repository, file)], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  child.stdout.on('data', (chunk: Buffer) => void (printed += chunk.toString()));
  const timer = setTimeout(() => child.kill('SIGKILL'), limitMs);
  const code = await new Promise<number | null>((resolve) => void child.once('close', resolve));
  clearTimeout(timer);
  const found = [...new Set(Array.from(printed.matchAll(figures), ([, text = '']) => text.trim()))];
  const keeps = found.every((text) => Number(most?.of.exec(text)?.[1] ?? 0) <= (most?.value ?? 0));
  const failed = printed.split('failing tests:')[1] ?? '';
  return {
    row,
    what,
    measured: found.length === 0 ? 'nothing' : (sum?.(found) ?? found.join('; ')),
    gate,
    isMet: code === 0 && found.length > 0 && keeps,
    examples: Array.from(failed.matchAll(/^\s*(?:✖.*|\w*Error.*)$/gm), ([line]) => line.trim()).slice(0, examplesMax),
  };
}

/** The line with the greatest number of milliseconds at its end. */
function longest(found: readonly string[]): string {
  const ms = (line: string): number => Number(/([0-9.]+) ms$/.exec(line)?.[1] ?? 0);
  const [worst = ''] = found.toSorted((left, right) => ms(right) - ms(left));
  return `${found.length} bodies, the longest block by ${worst.replaceAll(/\s+/g, ' ')}`;
}

const minuteMs = 60_000;

/** Figures that other folders measure themselves. The long form has the promised sizes. */
export function suites(isLong: boolean): readonly Suite[] {
  return [
    {
      row: 'R6',
      what: `${isLong ? '1,000' : '60'} clients that never read a stream of 64 MB`,
      file: 'conformance/faults/stalled-readers.deep.test.ts',
      environment: isLong ? { WEIR_STALLED_CLIENTS: '1000', WEIR_STALLED_MS: '25000' } : {},
      figures: /^(.* MB each at most.*)$/gm,
      ...(isLong ? { most: { of: /([0-9.]+) MB each at most/, value: 1 } } : {}),
      gate: '≤ 1 MB each; closed and settled within 2.5 times the time for it',
      limitMs: 15 * minuteMs,
    },
    {
      row: 'R7',
      what: `${isLong ? '5,000' : '300'} clients that send a byte a second`,
      file: 'conformance/faults/slow-senders.deep.timing.test.ts',
      environment: isLong ? { WEIR_SLOW_CLIENTS: '5000' } : {},
      figures: /^(p99 .* slow clients.*|\w+: closed after .*)$/gm,
      gate: "others' p99 < 2×; closed ≤ 15 s",
      limitMs: 5 * minuteMs,
    },
    {
      row: 'R8',
      what: 'large and hostile bodies of up to 28 MB',
      file: 'conformance/faults/large-bodies.deep.timing.test.ts',
      figures: /^(.* MB {2}\d{3} .* ms)$/gm,
      sum: longest,
      ...(isLong ? { most: { of: /([0-9.]+) ms$/, value: 50 } } : {}),
      gate: isLong ? '≤ 50 ms' : '≤ 50 ms on a quiet machine; the test allows 75 ms of work',
      limitMs: 5 * minuteMs,
    },
    {
      row: 'R11',
      what: 'SIGTERM with 500 live streams, by one process and by workers',
      file: 'conformance/books/drain.deep.test.ts',
      figures: /^ℹ (.*live streams.*)$/gm,
      gate: '0 cut within the grace period; the rest end with an error and are settled; exit code 0',
      limitMs: 10 * minuteMs,
    },
    {
      row: 'R11',
      what: `workers replaced, and two gateways restarted in turn, at ${isLong ? 200 : 40} calls/s`,
      file: 'conformance/books/rolling-restart.deep.test.ts',
      environment: isLong ? { WEIR_ROLL_RATE: '200', WEIR_ROLLS: '3' } : {},
      figures: /^ℹ (.*calls, .* failed)$/gm,
      gate: '0 failed',
      limitMs: 10 * minuteMs,
    },
    {
      row: 'M12',
      what: 'video tasks through lies, kills and failing stores, in virtual time',
      file: 'src/tasks/simulation.test.ts',
      environment: { WEIR_SIMULATED_WORLDS: isLong ? '40' : '2' },
      figures: /^ℹ (\d+ tasks: .*)$/gm,
      gate: 'each ends once, is charged the truth once and called back once',
      limitMs: 15 * minuteMs,
    },
    {
      row: 'M14',
      what: 'hostile video requests, read by five kinds of parser',
      file: 'src/dialects/video-tasks/bill-what-is-sent.test.ts',
      environment: { WEIR_FUZZED_REQUESTS: isLong ? '1000000' : '10000' },
      figures: /^ℹ (\d+ requests, .* billed too low)$/gm,
      gate: '0 billed too low',
      limitMs: 15 * minuteMs,
    },
  ];
}
