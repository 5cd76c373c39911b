import { bareName, type Contestant, startBareProxy, startUpstream, startWeirGateway } from './contestants.ts';
import { type Measured, measure, ratioOf, warmUp } from './measure-load.ts';
import { smallCall } from './works.ts';

/** A contestant, and the one with a single process that it is compared with. */
type Compared = {
  readonly contestant: Contestant;
  readonly processes: number;
  readonly one: Measured[];
  readonly measured: Measured[];
};

/**
 * The processor time of a call if several processes take the calls, as a ratio to one process. All of them run on one
 * core, because load and upstream need cores too: this is what sharing costs, not how much faster it is. The bare proxy
 * shows what the runtime and the shared core cost: each process has fewer connections, and the processes displace each
 * other from the caches.
 * @param rounds number of rounds, in which the contestants take turns
 * @param seconds length of a round
 */
export async function processesTable(rounds: number, seconds: number): Promise<string> {
  const upstream = await startUpstream();
  const compared: Compared[] = [];
  const add = (contestant: Contestant, processes = 1, one?: Compared): Compared => {
    const measured: Measured[] = [];
    const added = { contestant, processes, measured, one: one?.measured ?? measured };
    compared.push(added);
    return added;
  };
  try {
    const bare = add(await startBareProxy(upstream.port));
    const weir = add(await startWeirGateway(upstream.port, { name: 'Weir, one process' }));
    for (const processes of [2, 4]) {
      add(
        { ...(await startBareProxy(upstream.port, 'buffered', { processes })), name: `${bareName}, ${processes} processes` },
        processes,
        bare,
      );
      add(await startWeirGateway(upstream.port, { name: `Weir, \`--workers ${processes}\``, workers: processes }), processes, weir);
    }
    for (const { contestant, processes } of compared) warmUp(contestant, smallCall, { processes, seconds });
    for (let round = 0; round < rounds; round += 1)
      for (const { contestant, measured } of compared) measured.push(measure(contestant, smallCall, seconds));
    return [
      '## several processes, 1.5 KB call',
      '',
      '| | CPU of one process |',
      '|---|---|',
      ...compared.map(({ contestant, measured, one }) => `| ${contestant.name} | ${ratioOf(measured, one).toFixed(2)} |`),
      '',
    ].join('\n');
  } finally {
    for (const { contestant } of compared) contestant.stop();
    upstream.stop();
  }
}
