import { setTimeout as wait } from 'node:timers/promises';

import type { ConsoleClient } from '../../conformance/admin/console-client.ts';
import type { RunningWeir } from '../../conformance/support/start-weir.ts';
import { cpuSecondsOf } from '../cpu-seconds.ts';
import { residentMb } from './resident-mb.ts';

/** What staging should take at most. Source: figure 6 of the console's specification. */
const limitSeconds = 90;
/** A staging that takes longer than this failed. */
const patienceMs = 600_000;
const askedEveryMs = 200;
const watchedEveryMs = 5;
const quietMs = 10_000;

type Watched = { readonly p50Ms: number; readonly p99Ms: number; readonly mostMb: number };

/** Asks the gateway at a steady rate whether it lives, until the returned function is called. */
function watchGateway(weir: RunningWeir): () => Promise<Watched> {
  const answers: Promise<number>[] = [];
  let [isOver, mostMb] = [false, 0];
  const ask = async (): Promise<number> => {
    const asked = performance.now();
    await (await fetch(`${weir.gatewayUrl}/health/live`)).text();
    return performance.now() - asked;
  };
  const watching = (async () => {
    while (!isOver) {
      answers.push(ask());
      if (answers.length % 20 === 1) mostMb = Math.max(mostMb, residentMb(weir.process.pid));
      await wait(watchedEveryMs);
    }
  })();
  return async () => {
    isOver = true;
    await watching;
    const taken = (await Promise.all(answers)).toSorted((one, other) => one - other);
    const part = (share: number): number => taken[Math.floor(taken.length * share)] ?? 0;
    return { p50Ms: part(0.5), p99Ms: part(0.99), mostMb };
  };
}

/** The state of an operation, as far as it is shown here. */
type Staged = { readonly state: string; readonly result: { readonly total: { readonly calls: number } } | null };

async function awaitEnd(operator: ConsoleClient, id: string): Promise<Staged> {
  const begunMs = performance.now();
  for (;;) {
    await wait(askedEveryMs);
    const { body, text } = await operator.send('GET', `/api/v1/operations/${id}`);
    const staged = body as Staged;
    if (staged.state === 'done') return staged;
    if (staged.state === 'failed' || performance.now() - begunMs > patienceMs) throw new Error(`staging: ${text}`);
  }
}

/**
 * Prices the calls of some days with a draft, as a person does it, and meanwhile asks the gateway of the same process
 * whether it lives. @returns the lines of a table
 */
export async function measureStaging(weir: RunningWeir, operator: ConsoleClient, draft: object, days: number): Promise<readonly string[]> {
  const made = await operator.send('POST', '/api/v1/price_drafts', { name: `bench-${Date.now()}`, ...draft });
  if (made.status !== 201) throw new Error(`draft: ${made.status} ${made.text}`);
  const endQuiet = watchGateway(weir);
  await wait(quietMs);
  const before = await endQuiet();
  const [startMs, cpuSeconds, mb] = [performance.now(), cpuSecondsOf(weir.process.pid), residentMb(weir.process.pid)];
  const begun = await operator.send('POST', `/api/v1/price_drafts/${String(made.body['id'])}/stage`, { days });
  if (begun.status !== 202) throw new Error(`staging: ${begun.status} ${begun.text}`);
  const endWatching = watchGateway(weir);
  const { result } = await awaitEnd(operator, String(begun.body['id']));
  const figures = [
    (result?.total.calls ?? 0).toLocaleString('en'),
    ((performance.now() - startMs) / 1000).toFixed(1),
    (cpuSecondsOf(weir.process.pid) - cpuSeconds).toFixed(1),
  ];
  const meanwhile = await endWatching();
  const answersOf = ({ p50Ms, p99Ms }: Watched): string => `${p50Ms.toFixed(1)} / ${p99Ms.toFixed(1)}`;
  return [
    `| Calls priced again | s (limit ${limitSeconds}) | CPU s | memory +MB | gateway before, p50 / p99 ms | meanwhile |`,
    '|---|---|---|---|---|---|',
    `| ${[...figures, (meanwhile.mostMb - mb).toFixed(1), answersOf(before), answersOf(meanwhile)].join(' | ')} |`,
  ];
}
