import { allCores, bareName, type Contestant, startBareProxy, startUpstream, startWeirGateway } from './contestants.ts';
import { type Measured, measure, ratioOf, warmUp } from './measure-load.ts';
import { smallCall } from './works.ts';

/** A contestant, and the one with a single process that it is compared with. */
type Compared = {
  readonly contestant: Contestant;
  readonly processes: number;
  readonly one: Measured[];
  readonly measured: Measured[];
};

/** As many processes take the calls. */
const severals = [1, 2, 4];

/**
 * The processor time of a call if several processes take the calls, as a ratio to one process. First all of them run on
 * one core, and load and upstream on the other: this is what sharing a core costs. Then all programs share both cores,
 * as those of a machine do. The bare proxy shows what the runtime costs: each process has fewer connections, and the
 * processes displace each other from the caches.
 * @param rounds number of rounds, in which the contestants take turns
 * @param seconds length of a round
 */
export async function processesTable(rounds: number, seconds: number): Promise<string> {
  const onOne = await compareProcesses({ rounds, seconds, shared: false });
  const onBoth = await compareProcesses({ rounds, seconds, shared: true });
  return [
    '## several processes, 1.5 KB call',
    '',
    '| CPU of one process | on one core | on both cores |',
    '|---|---|---|',
    ...onOne.map(({ name, ratio }, place) => `| ${name} | ${ratio} | ${onBoth[place]?.ratio} |`),
    '',
  ].join('\n');
}

/** @param options.shared contestants, load and upstream share both cores */
async function compareProcesses({
  rounds,
  seconds,
  shared,
}: {
  readonly rounds: number;
  readonly seconds: number;
  readonly shared: boolean;
}): Promise<readonly { readonly name: string; readonly ratio: string }[]> {
  const upstream = await startUpstream(shared ? allCores : undefined);
  const compared: Compared[] = [];
  const add = (contestant: Contestant, processes: number, one: Compared | undefined): Compared => {
    const measured: Measured[] = [];
    const added = { contestant, processes, measured, one: one?.measured ?? measured };
    compared.push(added);
    return added;
  };
  let bare: Compared | undefined;
  let weir: Compared | undefined;
  try {
    for (const processes of severals) {
      const proxy = await startBareProxy(upstream.port, 'buffered', { processes, shared });
      const addedProxy = add({ ...proxy, name: `${bareName}, ${count(processes)}` }, processes, bare);
      const workers = processes === 1 ? {} : { workers: processes };
      const gateway = await startWeirGateway(upstream.port, { name: `Weir, ${count(processes)}`, ...workers, shared });
      const addedWeir = add(gateway, processes, weir);
      bare ??= addedProxy;
      weir ??= addedWeir;
    }
    for (const { contestant, processes } of compared) warmUp(contestant, smallCall, { processes, seconds });
    for (let round = 0; round < rounds; round += 1)
      for (const { contestant, measured } of compared) measured.push(measure(contestant, smallCall, seconds));
    return compared.map(({ contestant: { name }, measured, one }) => ({ name, ratio: ratioOf(measured, one).toFixed(2) }));
  } finally {
    for (const { contestant } of compared) contestant.stop();
    upstream.stop();
  }
}

const count = (processes: number): string => (processes === 1 ? 'one process' : `${processes} processes`);
