// The cost of the books per call: `node bench/books.ts [--quick]`, and a part of `npm run bench`. Weir with and without
// books, alternately on one core.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

import { writePart } from './benchmark-page.ts';
import { bookingTable } from './booking.ts';
import { proxyCore, startUpstream, startWeirGateway } from './contestants.ts';
import { lowerQuartile, type Measured, measureOrFail, warmUp } from './measure-load.ts';
import { smallCall, stream, type Work } from './works.ts';

const quick = process.argv.includes('--quick');
const rounds = quick ? 3 : 7;
const secondsPerRound = 2;
const works: readonly Work[] = [smallCall, stream];

const upstream = await startUpstream();
const contestants = [
  await startWeirGateway(upstream.port, { name: 'no books', preload: join(import.meta.dirname, 'without-books.ts') }),
  await startWeirGateway(upstream.port, { name: 'journal, prices, receipts, ledger' }),
  await startWeirGateway(upstream.port, { name: 'and a hold of a prepaid user with a daily limit', limited: true }),
];

function section(work: Work): string {
  const results = contestants.map((contestant) => ({ contestant, measured: [] as Measured[] }));
  for (let round = 0; round < rounds; round += 1) {
    for (const { contestant, measured } of results) {
      const found = measureOrFail(contestant, work, secondsPerRound);
      if (found !== undefined) measured.push(found);
    }
  }
  const cpuOf = (measured: readonly Measured[]): number => lowerQuartile(measured.map((each) => each.cpuMicros));
  const bare = cpuOf(results[0]?.measured ?? []);
  return [
    `| ${work.title} | CPU µs | more than without books |`,
    '|---|---|---|',
    ...results.map(
      ({ contestant, measured }) => `| ${contestant.name} | ${cpuOf(measured).toFixed(1)} | ${(cpuOf(measured) - bare).toFixed(1)} |`,
    ),
    '',
  ].join('\n');
}

/** The output of bench/books-in-thread.ts. */
type InThread = readonly { readonly name: string; readonly micros: number }[];

function inThread(): string {
  const program = join(import.meta.dirname, 'books-in-thread.ts');
  const { stdout } = spawnSync('taskset', ['-c', proxyCore, process.execPath, program], {
    encoding: 'utf8',
    timeout: 120_000,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return [
    '| 1.5 KB call, the books alone | CPU µs of the gateway’s thread |',
    '|---|---|',
    ...(JSON.parse(stdout) as InThread).map(({ name, micros }) => `| ${name} | ${micros.toFixed(1)} |`),
    '',
  ].join('\n');
}

try {
  for (const contestant of contestants) warmUp(contestant, { ...smallCall, connections: 32 }, { seconds: secondsPerRound });
  const page = [
    '# The cost of the books per call',
    '',
    "Written by `npm run bench`. All threads are counted, the ledger's too; the lower quartile of rounds in turn.",
    'Without books no call is recorded, priced or booked; everything else is the same.',
    '',
    ...(quick ? works.slice(0, 1) : works).map(section),
    'The same books in a thread without other work, with the journal on the disk and the copy for the thread of the store:',
    'the cost of a call for the thread that serves all calls.',
    '',
    inThread(),
    ...(quick ? [] : [await bookingTable()]),
  ].join('\n');
  console.log(page);
  if (!quick) writePart('books', page);
} finally {
  for (const contestant of contestants) contestant.stop();
  upstream.stop();
}
