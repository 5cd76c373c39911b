import { cpus } from 'node:os';
import { join } from 'node:path';

import { writePart } from './benchmark-page.ts';
import { type Contestant, loadCore, startBareProxy, startNginx, startPinned, startWeirGateway } from './contestants.ts';
import { lowerQuartile, type Measured, measure, type Work } from './measure-load.ts';
import { translationTable } from './translation.ts';

/**
 * Measures what Weir adds: CPU per call and latency, beside the least that this runtime can do and beside nginx, all pinned to one core in one run, with
 * load and upstream on the other. Rounds alternate, and the lower quartile of the rounds counts, because wall-clock speed of a shared machine is noise.
 * `npm run bench` writes docs/reference/benchmarks.md; `--quick` measures short rounds and writes nothing.
 */
const quick = process.argv.includes('--quick');
const rounds = quick ? 2 : 7;
const secondsPerRound = quick ? 2 : 4;

const works: readonly Work[] = [
  { title: '1.5 KB call', connections: 64, bodyBytes: 1500 },
  { title: '50 KB call', connections: 64, bodyBytes: 50_000 },
  { title: 'streamed event (300 streams)', connections: 300, bodyBytes: 1500, stream: { events: 100, perSecond: 50 } },
];

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
    for (const contestant of contestants) results.get(contestant.name)?.push(measure(contestant, work, secondsPerRound));
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
  for (const contestant of contestants) measure(contestant, { title: 'warm-up', connections: 32, bodyBytes: 1500 }, secondsPerRound);
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
