import { duration, type Figure } from '../chaos/figures.ts';
import type { Offer, Offered } from './offer-load.ts';
import { startOverloadBench } from './overload-bench.ts';

const goodputShareMin = 0.9;
const shedMsMax = 10;
/** The longest time that a call may wait for its tenant's slot before it is refused. */
const placeWaitMs = 100;
const slowdownMax = 1.5;

/**
 * R10: three times the calls that a gateway can serve, and a tenant beside one that floods. The short form has a
 * gateway with slots for few calls; the long one drives a gateway with its default settings to its limit, on the same
 * machine as its upstream and clients.
 */
export async function overloadFigures(isLong: boolean): Promise<readonly Figure[]> {
  const work: Partial<Offer> = isLong
    ? { bodyBytes: 20_000, stream: { events: 20, perSecond: 100 }, seconds: 8, warmUpSeconds: 3 }
    : { stream: { events: 25, perSecond: 50 }, seconds: 4, warmUpSeconds: 1 };
  await using bench = await startOverloadBench(isLong ? {} : { callsMax: 44 });
  let peak = 0;
  for (const connections of isLong ? [32, 64, 128, 256] : [40, 40]) {
    const closed = await bench.offer({ ...work, connections });
    peak = Math.max(peak, perSecond(closed));
  }
  const overloaded = await bench.offer({ ...work, perSecond: peak * 3, connections: 4000 });
  const quiet = { ...work, apiKey: await bench.createKey('quiet'), perSecond: peak / 10, connections: 500 };
  const alone = await bench.offer(quiet);
  const [, beside] = await Promise.all([bench.offer({ ...work, perSecond: peak * 2, connections: 2000 }), bench.offer(quiet)]);
  const share = perSecond(overloaded) / peak;
  const slowdown = beside.goodMs.p99 / alone.goodMs.p99;
  return [
    {
      row: 'R10',
      what: 'three times the calls that it can serve',
      measured: `${Math.round(perSecond(overloaded))} calls/s in time of ${Math.round(peak)} at the peak (${Math.round(share * 100)} %); refusals in p50 ${duration(overloaded.shedMs.p50)}, p99 ${duration(overloaded.shedMs.p99)}; other statuses ${JSON.stringify(overloaded.otherStatuses)}`,
      gate: `≥ ${goodputShareMin * 100} %; < ${shedMsMax} ms, or after a wait for a slot of ${placeWaitMs} ms`,
      isMet:
        share >= goodputShareMin &&
        overloaded.shedMs.p50 < shedMsMax &&
        overloaded.shedMs.p99 < placeWaitMs + shedMsMax &&
        Object.keys(overloaded.otherStatuses).length === 0,
    },
    {
      row: 'R10',
      what: 'a tenant with a tenth of the calls beside one with twice the capacity',
      measured: `p99 ${duration(beside.goodMs.p99)}, alone ${duration(alone.goodMs.p99)} (${slowdown.toFixed(2)} times); ${beside.shed} of ${beside.offered} refused`,
      gate: `< ${slowdownMax} times`,
      isMet: slowdown < slowdownMax && beside.shed <= 0.02 * beside.offered,
    },
  ];
}

const perSecond = ({ good, seconds }: Offered): number => good / seconds;
