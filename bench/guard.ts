// Fails if a call became more expensive: `node bench/guard.ts`. `--update` writes the figures of this run.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { type Contestant, startBareProxy, startUpstream, startWeirGateway } from './contestants.ts';
import { type Measured, measure, ratioOf, warmUp } from './measure-load.ts';
import { smallCall, type Work, works } from './works.ts';

const path = join(import.meta.dirname, 'guard.json');
/** The processor time of a call or event as a ratio to that of the bare proxy, by the title of the work. */
const committed = JSON.parse(readFileSync(path, 'utf8')) as Readonly<Record<string, number>>;
/** A ratio may exceed the committed one by this factor. */
const tolerance = 1.1;
/** A work is measured again if it seems too expensive, because other work on the machine disturbs a measurement. */
const attemptsMax = 3;
const rounds = 5;
const secondsPerRound = 1;

const guarded = works.filter(({ title }) => title in committed);

function ratio(weir: Contestant, bare: Contestant, work: Work): number {
  const results: Measured[] = [];
  const bareResults: Measured[] = [];
  for (let round = 0; round < rounds; round += 1) {
    bareResults.push(measure(bare, work, secondsPerRound));
    results.push(measure(weir, work, secondsPerRound));
  }
  return ratioOf(results, bareResults);
}

/** The lowest ratio of some measurements; the first that is within the limit ends them. */
function lowestRatio(weir: Contestant, bare: Contestant, work: Work, most: number): number {
  let lowest = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < attemptsMax && lowest > most; attempt += 1) lowest = Math.min(lowest, ratio(weir, bare, work));
  return lowest;
}

const upstream = await startUpstream();
const bare = await startBareProxy(upstream.port);
const weir = await startWeirGateway(upstream.port);
try {
  const isUpdate = process.argv.includes('--update');
  const figures: Record<string, number> = {};
  for (const contestant of [bare, weir]) warmUp(contestant, { ...smallCall, connections: 32 }, { seconds: secondsPerRound });
  for (const work of guarded) {
    for (const contestant of [bare, weir]) measure(contestant, work, 2 * secondsPerRound);
    const most = (committed[work.title] ?? Number.NaN) * tolerance;
    const now = isUpdate ? ratio(weir, bare, work) : lowestRatio(weir, bare, work, most);
    figures[work.title] = Number(now.toFixed(2));
    console.log(`${work.title}: ${now.toFixed(2)} times the bare proxy, at most ${most.toFixed(2)}`);
    if (isUpdate || now <= most) continue;
    console.error(`${work.title} became more expensive: if that is right, run \`node bench/guard.ts --update\` and say why.`);
    process.exitCode = 1;
  }
  if (isUpdate) writeFileSync(path, `${JSON.stringify(figures, undefined, 2)}\n`);
} finally {
  for (const contestant of [bare, weir]) contestant.stop();
  upstream.stop();
}
