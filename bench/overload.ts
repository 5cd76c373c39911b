import { createGatekeeper } from '../src/gateway/admission/overload/gatekeeper.ts';
import { createLoopGauge } from '../src/gateway/admission/overload/process-watch.ts';
import { defaultOverload } from '../src/gateway/settings/limits.ts';
import { systemClock } from '../src/platform/clock.ts';
import { silentLogger } from '../src/platform/log.ts';
import type { Offer, Offered } from '../conformance/overload/offer-load.ts';
import { type OverloadBench, startOverloadBench } from '../conformance/overload/overload-bench.ts';
import { cpuSecondsOf } from './cpu-seconds.ts';

/**
 * The cost of overload protection per call, and the behaviour of a gateway with default settings at its limit: `node
 * bench/overload.ts`. Gateway, upstream and loads share the machine, so compare only within one run, on a machine
 * without other load.
 */
const calls = 1_000_000;

function costOfAdmission(): number {
  const keeper = createGatekeeper({
    settings: () => defaultOverload,
    clock: systemClock,
    logger: silentLogger,
    readLoop: createLoopGauge(),
    readMemoryShare: () => 0.1,
  });
  const stays = (): boolean => false;
  const rounds = Array.from({ length: 5 }, () => {
    const startedMs = performance.now();
    for (let index = 0; index < calls; index += 1) {
      const admitted = keeper.admit(tenants[index & 15] ?? '', 1500, stays);
      if (admitted !== undefined && !(admitted instanceof Promise)) admitted.release();
    }
    return ((performance.now() - startedMs) / calls) * 1000;
  });
  keeper.close();
  return Math.min(...rounds);
}

const tenants = Array.from({ length: 16 }, (_, index) => `user_${index}`);

/**
 * Includes the gateway's share of a processor: on a machine with other load, only calls per second of processor time
 * are comparable.
 */
type Measured = Offered & { readonly cpuShare?: number };

function show(title: string, measured: Measured): void {
  const { offered, good, late, shed, otherStatuses, notSent, broken, seconds, goodMs, shedMs, cpuShare } = measured;
  const rate = (count: number): string => String(Math.round(count / seconds));
  const ms = ({ p50, p90, p99 }: Offered['goodMs']): string => [p50, p90, p99].map((value) => value.toFixed(1)).join(' / ');
  const odd = { ...otherStatuses, ...(broken > 0 ? { broken } : {}), ...(notSent > 0 ? { notSent } : {}) };
  console.log(
    `| ${title} | ${rate(offered)} | ${rate(good)} | ${cpuShare === undefined ? '' : Math.round(good / seconds / cpuShare)} | ${rate(late)} | ${rate(shed)} | ${ms(goodMs)} | ${ms(shedMs)} | ${Object.entries(odd).join(' ')} |`,
  );
}

async function run(bench: OverloadBench, title: string, work: Partial<Offer>, connections: readonly number[]): Promise<void> {
  const offer = async (what: Partial<Offer>): Promise<Measured> => {
    const seconds = what.seconds ?? 8;
    const before = cpuSecondsOf(bench.weir.process.pid);
    const offered = await bench.offer({ ...work, seconds, warmUpSeconds: 3, ...what });
    const cpuShare = (cpuSecondsOf(bench.weir.process.pid) - before) / seconds;
    return { ...offered, cpuShare };
  };
  await offer({ connections: 32, seconds: 4 });
  let peak = 0;
  for (const count of connections) {
    const closed = await offer({ connections: count });
    show(`${title}: ${count} callers that wait`, closed);
    peak = Math.max(peak, closed.good / closed.seconds);
  }
  for (const times of [1, 2, 3]) show(`${title}: ${times} times the peak`, await offer({ perSecond: peak * times, connections: 4000 }));
  const quiet = { apiKey: await bench.createKey(title.replaceAll(',', '')), perSecond: peak / 10, connections: 500 };
  show(`${title}: a tenant alone`, await offer(quiet));
  const [flood, beside] = await Promise.all([offer({ perSecond: peak * 2, connections: 2000 }), offer(quiet)]);
  show(`${title}: beside one that floods`, beside);
  show(`${title}: the one that floods`, flood);
}

console.log(`admission and release: ${costOfAdmission().toFixed(3)} µs`);
console.log(
  '| load | offered/s | in time/s | in time for a CPU second | late/s | refused/s | in time ms p50 / p90 / p99 | refused ms p50 / p90 / p99 | other |',
);
console.log('|---|---|---|---|---|---|---|---|---|');
await using bench = await startOverloadBench();
await run(bench, 'streams of 20 events, 20 KB', { bodyBytes: 20_000, stream: { events: 20, perSecond: 100 } }, [64, 128, 256]);
await run(bench, 'whole replies, 100 KB', { bodyBytes: 100_000 }, [16, 32, 64]);
const known = { perSecond: 300, connections: 300, seconds: 8, warmUpSeconds: 2 };
show('known keys alone', await bench.offer(known));
const [unknown, besideUnknown] = await Promise.all([
  bench.offer({ perSecond: 10_000, connections: 1000, randomKeys: true, seconds: 8, warmUpSeconds: 2, bodyBytes: 100 }),
  bench.offer(known),
]);
show('known keys beside random ones', besideUnknown);
show('random keys', unknown);
