import { startUpstream, startWeirGateway, type WeirContestant } from './contestants.ts';
import { type Measured, measure, ratioOf } from './measure-load.ts';
import { smallCall } from './works.ts';

/**
 * The processor time of a call if several processes take the calls, as a ratio to one process. All of them run on one
 * core, because load and upstream need cores too: this is what sharing costs, not how much faster it is.
 * @param rounds number of rounds, in which the contestants take turns
 * @param seconds length of a round
 */
export async function processesTable(rounds: number, seconds: number): Promise<string> {
  const upstream = await startUpstream();
  const contestants: WeirContestant[] = [];
  try {
    contestants.push(await startWeirGateway(upstream.port, { name: 'one process' }));
    for (const workers of [2, 4]) {
      contestants.push(await startWeirGateway(upstream.port, { name: `\`--workers ${workers}\``, workers }));
    }
    const measured = contestants.map((): Measured[] => []);
    for (const contestant of contestants) measure(contestant, smallCall, seconds);
    for (let round = 0; round < rounds; round += 1)
      for (const [at, contestant] of contestants.entries()) measured[at]?.push(measure(contestant, smallCall, seconds));
    return [
      '## several processes, 1.5 KB call',
      '',
      '| | CPU of one process |',
      '|---|---|',
      ...contestants.map(({ name }, at) => `| ${name} | ${ratioOf(measured[at] ?? [], measured[0] ?? []).toFixed(2)} |`),
      '',
    ].join('\n');
  } finally {
    for (const contestant of contestants) contestant.stop();
    upstream.stop();
  }
}
