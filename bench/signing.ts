// What a signature adds to a call: `node bench/signing.ts [--quick]`. One gateway has the same upstream twice, with an
// API key and with access keys. Calls of both take turns, so that code, connections and machine are the same. It takes
// about 75 seconds, and begins no round after 110, so that it ends on a slow machine too.
import { spawnSync } from 'node:child_process';
import { loadavg } from 'node:os';
import { join } from 'node:path';

import { writePart } from './benchmark-page.ts';
import { proxyCore, startUpstream, startWeirGateway } from './contestants.ts';
import { lowerQuartile, type Measured, measure, warmUp } from './measure-load.ts';
import { smallCall, type Work, works } from './works.ts';

const quick = process.argv.includes('--quick');
const rounds = quick ? 3 : 11;
/** With fewer the median of their differences means nothing. */
const roundsMin = quick ? 1 : 5;
const secondsPerRound = 1;
const noRoundAfterMs = 110_000;
const startedMs = performance.now();
const [loadBefore = Number.NaN] = loadavg();
const chosen: readonly Work[] = [smallCall, ...works.filter(({ title }) => title === '50 KB call')];
const ways = ['keyed', 'signed'] as const;
type Way = (typeof ways)[number];

/** Session tokens of AWS have about this length. */
const sessionToken = 'F'.repeat(700);

function configOf(port: number): string {
  const bedrock = { vendor: 'bedrock', region: 'us-east-1', baseUrl: `http://127.0.0.1:${port}` };
  const credential = { kind: 'aws', accessKeyId: 'ASIAIOSFODNN7EXAMPLE', secretAccessKey: 'secret-access-key-of-the-bench', sessionToken };
  const modelOf = (upstream: Way): object => ({
    targets: [{ upstream, model: 'openai.gpt-oss-20b-1:0' }],
    price: { input: '1', output: '3', cacheRead: '0.1' },
  });
  return JSON.stringify({
    upstreams: { keyed: { ...bedrock, apiKey: 'bedrock-key-of-the-bench' }, signed: { ...bedrock, credential } },
    models: { keyed: modelOf('keyed'), signed: modelOf('signed') },
  });
}

const callOf = (work: Work, way: Way): Work => ({ ...work, body: work.body.replace('"bench-model"', `"${way}"`) });

const upstream = await startUpstream();
const weir = await startWeirGateway(upstream.port, { config: configOf(upstream.port) });

function row(work: Work): string {
  const measured: Record<Way, Measured[]> = { keyed: [], signed: [] };
  const endMs = startedMs + noRoundAfterMs * ((chosen.indexOf(work) + 1) / chosen.length);
  for (let round = 0; round < rounds && (round < roundsMin || performance.now() < endMs); round += 1)
    for (const way of round % 2 === 0 ? ways : ways.toReversed()) measured[way].push(measure(weir, callOf(work, way), secondsPerRound));
  const cpuOf = (way: Way): readonly number[] => measured[way].map(({ cpuMicros }) => cpuMicros);
  const [keyed, signed] = [cpuOf('keyed'), cpuOf('signed')];
  const added = signed.map((micros, round) => micros - (keyed[round] ?? Number.NaN)).toSorted((a, b) => a - b);
  console.error(`${work.title}: ${added.length} rounds of each, after ${Math.round((performance.now() - startedMs) / 1000)} s`);
  const cells = [lowerQuartile(keyed), lowerQuartile(signed), added[Math.floor(added.length / 2)] ?? Number.NaN];
  return `| ${work.title} | ${cells.map((micros) => micros.toFixed(1)).join(' | ')} |`;
}

/** The output of bench/signing-in-thread.ts, as rows. */
function inThread(): readonly string[] {
  const program = join(import.meta.dirname, 'signing-in-thread.ts');
  const { stdout } = spawnSync('taskset', ['-c', proxyCore, process.execPath, program], {
    encoding: 'utf8',
    timeout: 60_000,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const found = JSON.parse(stdout) as readonly { readonly title: string; readonly micros: number }[];
  return found.map(({ title, micros }) => `| ${title} | ${micros.toFixed(1)} |`);
}

try {
  for (const way of ways) warmUp(weir, callOf(smallCall, way), { seconds: secondsPerRound, roundsMax: 12 });
  const page = [
    '# The cost of a signature per call',
    '',
    'Written by `node bench/signing.ts`: calls of one gateway to the same upstream of vendor `bedrock` in turn, with an API',
    'key and signed with temporary keys. CPU of all threads; the lower quartile of the rounds, and the median of what a',
    'signed round takes more than its neighbour. Goal: at most 15 µs for a call of 1.5 KB. The load of the machine before',
    `the rounds was ${loadBefore.toFixed(1)}.`,
    '',
    '| | with a key, CPU µs | signed, CPU µs | the signature adds |',
    '|---|---|---|---|',
    ...chosen.map(row),
    '',
    'The same without sockets, in the thread that serves calls: the client of an upstream, up to its transport.',
    '',
    '| | the signature adds, CPU µs |',
    '|---|---|',
    ...inThread(),
    '',
  ].join('\n');
  console.log(page);
  if (!quick) writePart('signing', page);
} finally {
  weir.stop();
  upstream.stop();
}
