import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';

import { runSteadyLoad } from '../books/steady-load.ts';
import { residentBytes } from '../support/process-memory.ts';
import { startWeir } from '../support/start-weir.ts';

/**
 * Runs a Weir in a process of its own under steady load of all chat interfaces, and measures what may not grow: memory,
 * file descriptors, threads, and the bytes of the database for each call. `--minutes 480 --calls 300` is the form of a
 * release. The first half is not judged, because code is loaded and the heap finds its size. Time is not compressed.
 * The exit code is the verdict.
 */
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    calls: { type: 'string', default: '20' },
    samples: { type: 'string', default: '20' },
    // Without a limit, the heap grows with garbage for hours, which looks like a leak.
    'heap-mb': { type: 'string', default: '160' },
  },
});
const [minutes, callsPerSecond, samples] = [Number(values.minutes), Number(values.calls), Number(values.samples)];
if (!(minutes > 0 && callsPerSecond > 0 && samples >= 8))
  throw new RangeError('--minutes and --calls must be positive, --samples at least 8');

type Sample = {
  readonly calls: number;
  readonly failed: number;
  readonly processorSeconds: number;
  readonly residentMb: number;
  readonly descriptors: number;
  readonly threads: number;
  readonly databaseMb: number;
};

/** Medians of the last quarter may exceed those of the quarter before by so much. */
const bounds = { residentMb: 24, descriptors: 16, threads: 1 } as const;
/** Bytes of the ledger, statistics and facts for a call: an empty database is not counted. */
const bytesPerCallMax = 4096;

const weir = await startWeir({ nodeArguments: [`--max-old-space-size=${values['heap-mb']}`] });
const pid = weir.process.pid ?? 0;
const sampled: Sample[] = [];
let [calls, failed] = [0, 0];
const emptyBytes = databaseBytes();
for (let sample = 0; sample < samples; sample += 1) {
  const during = (): Promise<void> => delay((minutes * 60_000) / samples);
  const views = await runSteadyLoad({ gatewayUrl: weir.gatewayUrl, apiKey: weir.apiKey, callsPerSecond, during });
  calls += views.length;
  failed += views.filter(({ failure }) => failure !== undefined).length;
  if (weir.process.exitCode !== null || weir.process.signalCode !== null) break;
  sampled.push(measure());
  process.stdout.write(`${JSON.stringify(sampled.at(-1))}\n`);
}
const isRunning = weir.process.exitCode === null && weir.process.signalCode === null;
// Booked calls reach the file within a second.
await delay(2000);
const bytesPerCall = Math.round((databaseBytes() - emptyBytes) / Math.max(1, calls));
await weir[Symbol.asyncDispose]();
const grown = Object.fromEntries((Object.keys(bounds) as readonly (keyof typeof bounds)[]).map((name) => [name, growthOf(name)])) as Record<
  keyof typeof bounds,
  number
>;
const problems = [
  ...(isRunning ? [] : [`it ended: ${weir.output().slice(-2000)}`]),
  ...(failed === 0 ? [] : [`${failed} calls failed`]),
  ...(bytesPerCall <= bytesPerCallMax ? [] : [`${bytesPerCall} bytes for each call`]),
  ...(Object.keys(bounds) as readonly (keyof typeof bounds)[])
    .filter((name) => grown[name] > bounds[name])
    .map((name) => `${name} grew by ${grown[name]}`),
  ...(/unhandled|uncaught|TypeError|RangeError/i.test(weir.output()) ? ['it printed an unexpected error'] : []),
];
process.stdout.write(`${JSON.stringify({ minutes, calls, failed, bytesPerCall, grown, problems })}\n`);
process.exitCode = problems.length === 0 ? 0 : 1;

function measure(): Sample {
  const statistics = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return {
    calls,
    failed,
    // User and system time, in hundredths of a second.
    processorSeconds: Math.round((Number(statistics[11]) + Number(statistics[12])) / 100),
    residentMb: Math.round((residentBytes(pid) ?? 0) / 2 ** 20),
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
    threads: readdirSync(`/proc/${pid}/task`).length,
    databaseMb: Math.round(databaseBytes() / 2 ** 20),
  };
}

function databaseBytes(): number {
  return statSync(join(weir.dataDirectory, 'weir.sqlite')).size;
}

/** How much the median of the last quarter exceeds that of the quarter before. */
function growthOf(name: keyof typeof bounds): number {
  const quarter = Math.floor(sampled.length / 4);
  const median = (part: readonly Sample[]): number =>
    part.map((each) => each[name]).toSorted((a, b) => a - b)[Math.floor(part.length / 2)] ?? 0;
  return median(sampled.slice(-quarter)) - median(sampled.slice(-2 * quarter, -quarter));
}
