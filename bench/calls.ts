import { spawnSync } from 'node:child_process';
import { cpus } from 'node:os';

import { writePart } from './benchmark-page.ts';
import { bareName, type Contestant, startBareProxy, startUpstream, startWeirGateway } from './contestants.ts';
import { diskTable } from './disk.ts';
import { idleStreamsTable } from './idle-streams.ts';
import { lowerQuartile, type Measured, measureMemory, measureOrFail, ratioOf, warmUp } from './measure-load.ts';
import { startGoProxy, startHaproxy, startNginx, startPortkey } from './peers.ts';
import { processesTable } from './several-processes.ts';
import { startsTable } from './starts.ts';
import { translationTable } from './translation.ts';
import { smallCall, type Work, works } from './works.ts';

/**
 * Measures what Weir adds to a call: processor time and latency, beside a bare proxy on this runtime and beside nginx,
 * HAProxy and a proxy in Go if they are installed. The contestants of a table run in turn on one core, load and
 * upstream on the other. The lower quartile of the rounds counts, because other work on the machine only adds to a
 * measurement. `npm run bench` writes its part of docs/reference/benchmarks.md. `--quick` measures short rounds and
 * writes nothing, and `--work TEXT` measures only the works whose title contains the text. `--peer portkey` also
 * installs and measures Portkey's gateway. `--before FOLDER` measures the version in another checkout too, in the same
 * rounds.
 */
const quick = process.argv.includes('--quick');
const valueOf = (flag: string): string | undefined =>
  process.argv.includes(flag) ? process.argv[process.argv.indexOf(flag) + 1] : undefined;
const only = valueOf('--work');
const before = valueOf('--before');
const rounds = quick ? 3 : 4;
/** A round of streams takes five times as long. */
const streamRounds = quick ? 1 : 3;
const secondsPerRound = 2;
const chosen = only === undefined ? works : works.filter(({ title }) => title.includes(only));

const upstream = await startUpstream();
const piped = await startBareProxy(upstream.port, 'piped');
const contestants = [
  await startNginx(upstream.port),
  await startHaproxy(upstream.port),
  await startGoProxy(upstream.port),
  await startBareProxy(upstream.port),
  piped,
  await startWeirGateway(upstream.port),
  before === undefined ? undefined : await startWeirGateway(upstream.port, { name: 'Weir before', checkout: before }),
  valueOf('--peer') === 'portkey' ? await startPortkey(upstream.port) : undefined,
].filter((contestant) => contestant !== undefined);

function row({ name }: Contestant, results: readonly Measured[], bare: readonly Measured[]): string {
  const cell = (read: (result: Measured) => number, digits: number): string => lowerQuartile(results.map(read)).toFixed(digits);
  const rate = results.map(({ perSecond }) => perSecond).toSorted((a, b) => b - a)[Math.floor(results.length / 4)] ?? 0;
  const latencies = [cell(({ p50Ms }) => p50Ms, 3), cell(({ p99Ms }) => p99Ms, 2), cell(({ p999Ms }) => p999Ms, 2)];
  return `| ${[name, cell(({ cpuMicros }) => cpuMicros, 1), ratioOf(results, bare).toFixed(2), Math.round(rate), ...latencies].join(' | ')} |`;
}

/** The tables that follow the works. */
const tables: readonly (() => string | Promise<string>)[] = [
  () => processesTable(rounds, secondsPerRound),
  () => diskTable(secondsPerRound * 3),
  idleStreamsTable,
  translationTable,
  startsTable,
];

/** A table that fails does not lose the others: the page says why it is missing. */
async function orReason(table: () => string | Promise<string>): Promise<string> {
  try {
    return await table();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return `## not measured\n\n${reason}\n`;
  }
}

function section(work: Work): string {
  const compared = contestants.filter((contestant) => contestant !== piped || work.isLarge);
  const results = compared.map((contestant) => ({ contestant, measured: [] as Measured[], hasFailed: false }));
  const memory: number[] = [];
  for (let round = 0; round < (work.streams ? streamRounds : rounds); round++) {
    for (const result of results) {
      memory.push(measureMemory());
      const measured = result.hasFailed ? undefined : measureOrFail(result.contestant, work, secondsPerRound);
      if (measured === undefined) result.hasFailed = true;
      else result.measured.push(measured);
    }
  }
  const bare = results.find(({ contestant }) => contestant.name === bareName)?.measured ?? [];
  const unit = work.streams ? 'event' : 'call';
  const text = [
    `## ${work.title}`,
    '',
    `| | CPU µs per ${unit} | of bare node | ${unit}s/s | p50 ms | p99 ms | p99.9 ms |`,
    '|---|---|---|---|---|---|---|',
    ...results.map(({ contestant, measured, hasFailed }) =>
      hasFailed ? `| ${contestant.name} | refuses requests | | | | | |` : row(contestant, measured, bare),
    ),
    '',
    `A step through memory: ${Math.min(...memory).toFixed(0)} to ${Math.max(...memory).toFixed(0)} ns.`,
    '',
  ].join('\n');
  console.log(text);
  return text;
}

/** The commit that a checkout is at, with its day. */
const commitOf = (folder: string): string =>
  spawnSync('git', ['-C', folder, 'show', '-s', '--format=%h of %as', 'HEAD'], { encoding: 'utf8' }).stdout.trim();

try {
  for (const contestant of contestants) warmUp(contestant, { ...smallCall, connections: 32 }, { seconds: secondsPerRound });
  const sections = chosen.map(section);
  const isWhole = chosen === works;
  if (isWhole) for (const table of tables) sections.push(await orReason(table));
  console.log(sections.slice(chosen.length).join('\n'));
  const page = [
    '# Benchmarks',
    '',
    'Written by `npm run bench`; nginx, HAProxy and Go are measured if they are installed, Portkey with',
    '`--peer portkey`. Compare within a table only: its contestants ran in turn on one core of one machine',
    `(${cpus()[0]?.model ?? 'unknown processor'}, Node ${process.version}), load and upstream, written in C, on the other. CPU is`,
    'the user and system time of all processes and threads of the contestant, lower quartile of the rounds; the ratio is',
    'the median of the rounds. Weir runs with everything on: keys, structural scan, validation, usage, price, journal,',
    'ledger. The latency of a call includes the upstream. The latency of an event is its delay from the upstream to the',
    'client, while all streams are open: one after the other ends, and the next begins.',
    'The last line of a table says how long a step through 8 MB took before its rounds. Other machines of the same',
    'processor share its large cache. Where a step takes 100 ns instead of 20, Weir and the bare proxy cost a tenth more;',
    'nginx and HAProxy, which need little memory, cost the same.',
    ...(before === undefined ? [] : [`"Weir before" is the version ${commitOf(before)}.`]),
    '',
    ...sections,
  ].join('\n');
  if (!quick && isWhole) writePart('calls', page);
} finally {
  for (const contestant of contestants) contestant.stop();
  upstream.stop();
}
