import { spawnSync } from 'node:child_process';
import { cpus } from 'node:os';
import { join } from 'node:path';

import { writePart } from './benchmark-page.ts';
import { apiKey, type Contestant, loadCore, startBareProxy, startNginx, startPinned, startWeirGateway } from './contestants.ts';
import { translationTable } from './translation.ts';

/**
 * Measures what Weir adds: CPU per call and latency, beside the least that this runtime can do and beside nginx, all pinned to one core in one run, with
 * load and upstream on the other. Rounds alternate, and the lower quartile of the rounds counts, because wall-clock speed of a shared machine is noise.
 * `npm run bench` writes docs/reference/benchmarks.md; `--quick` measures short rounds and writes nothing.
 */
const quick = process.argv.includes('--quick');
const rounds = quick ? 2 : 7;
const secondsPerRound = quick ? 2 : 4;

type Work = {
  readonly title: string;
  readonly connections: number;
  readonly bodyBytes: number;
  readonly stream?: { readonly events: number; readonly perSecond: number };
};

const works: readonly Work[] = [
  { title: '1.5 KB call', connections: 64, bodyBytes: 1500 },
  { title: '50 KB call', connections: 64, bodyBytes: 50_000 },
  { title: 'streamed event (300 streams)', connections: 300, bodyBytes: 1500, stream: { events: 100, perSecond: 50 } },
];

type Round = {
  readonly requests: number;
  readonly failures: number;
  readonly events: number;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
};
type Measured = { readonly cpuMicros: number; readonly p50Ms: number; readonly p99Ms: number; readonly perSecond: number };

function measure(contestant: Contestant, work: Work): Measured {
  const task = {
    port: contestant.port,
    connections: work.connections,
    seconds: secondsPerRound,
    bodyBytes: work.bodyBytes,
    apiKey,
    ...(work.stream === undefined ? {} : { stream: work.stream }),
  };
  const before = contestant.cpuSeconds();
  const load = spawnSync('taskset', ['-c', loadCore, process.execPath, join(import.meta.dirname, 'load.ts'), JSON.stringify(task)], {
    encoding: 'utf8',
    timeout: 60_000,
  });
  const used = contestant.cpuSeconds() - before;
  const round = JSON.parse(load.stdout) as Round;
  if (round.failures > 0 || round.requests === 0)
    throw new Error(`${contestant.name}, ${work.title}: ${round.failures} of ${round.requests} requests failed`);
  const units = work.stream === undefined ? round.requests : round.events;
  return { cpuMicros: (used / units) * 1e6, p50Ms: round.p50Ms, p99Ms: round.p99Ms, perSecond: units / round.seconds };
}

const lowerQuartile = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 4)] ?? Number.NaN;

function row(contestant: string, results: readonly Measured[], bare: number): string {
  const cpu = lowerQuartile(results.map((result) => result.cpuMicros));
  const p50 = lowerQuartile(results.map((result) => result.p50Ms));
  const p99 = lowerQuartile(results.map((result) => result.p99Ms));
  const rate = results.map((result) => result.perSecond).toSorted((a, b) => b - a)[Math.floor(results.length / 4)] ?? 0;
  return `| ${contestant} | ${cpu.toFixed(1)} | ${(cpu / bare).toFixed(2)} | ${Math.round(rate)} | ${p50.toFixed(2)} | ${p99.toFixed(2)} |`;
}

function section(work: Work, contestants: readonly Contestant[]): string {
  const results = new Map<string, Measured[]>(contestants.map((contestant) => [contestant.name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const contestant of contestants) results.get(contestant.name)?.push(measure(contestant, work));
  }
  const bare = lowerQuartile((results.get('node:http + undici') ?? []).map((result) => result.cpuMicros));
  const unit = work.stream === undefined ? 'call' : 'event';
  return [
    `## ${work.title}`,
    '',
    `| | CPU µs per ${unit} | of bare node | ${unit}s/s | p50 ms | p99 ms |`,
    '|---|---|---|---|---|---|',
    ...[...results].map(([name, measured]) => row(name, measured, bare)),
    '',
  ].join('\n');
}

const upstream = await startPinned(loadCore, [process.execPath, join(import.meta.dirname, 'upstream.ts')], /^(\d+)$/m);
const upstreamPort = Number(upstream.found);
const contestants = [startNginx(upstreamPort), await startBareProxy(upstreamPort), await startWeirGateway(upstreamPort)].filter(
  (contestant) => contestant !== undefined,
);
try {
  for (const contestant of contestants) measure(contestant, { title: 'warm-up', connections: 32, bodyBytes: 1500 });
  const page = [
    '# Benchmarks',
    '',
    'Written by `npm run bench` (nginx from the distribution is measured when it is installed). Compare within a table only: all contestants of a table ran in turn on one core of one',
    `machine (${cpus()[0]?.model ?? 'unknown processor'}, Node ${process.version}), load and upstream on the other. CPU is user and system time of all processes and threads of the contestant, lower`,
    'quartile of the rounds. Weir runs with everything on: keys, structural scan, validation, usage, price, journal, ledger. Latency is measured under full load and includes the upstream.',
    '',
    ...works.map((work) => section(work, contestants)),
    translationTable(),
  ].join('\n');
  console.log(page);
  if (!quick) writePart('calls', page);
} finally {
  for (const contestant of contestants) contestant.stop();
  upstream.child.kill('SIGKILL');
}
