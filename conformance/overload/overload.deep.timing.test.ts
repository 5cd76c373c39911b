import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { call, eventually } from '../support/http.ts';
import { measureBest } from '../support/measure-best.ts';
import { residentBytes } from '../support/process-memory.ts';
import type { Offered } from './offer-load.ts';
import { type OverloadBench, startOverloadBench } from './overload-bench.ts';

/**
 * A gateway with slots for few calls, each of which takes half a second on any machine, so that its capacity does not
 * depend on the machine. `node bench/overload.ts` drives the process itself to its limit and prints figures.
 */
const callsMax = 44;
const stream = { events: 25, perSecond: 50 };
const secondsPerCall = 0.6;
/** Its capacity: shared slots, divided by the time of a call. */
const capacity = Math.round((callsMax / 1.1 / secondsPerCall) * 0.9);

describe('overload', () => {
  let bench: OverloadBench;
  before(async () => {
    bench = await startOverloadBench({ callsMax });
  });
  after(() => bench[Symbol.asyncDispose]());

  const perSecond = ({ good, seconds }: Offered): number => good / seconds;

  test('with three times the calls that it can serve, it serves as many as ever; refusals are quick; it stays alive', async () => {
    const peak = await bench.offer({ connections: Math.floor(callsMax / 1.1), stream });
    assert.ok(peak.good > 0, JSON.stringify(peak));
    const memoryBefore = residentBytes(bench.weir.process.pid);
    const offerTooMuch = async (): Promise<Offered> => {
      const load = bench.offer({ perSecond: perSecond(peak) * 3, seconds: 5, warmUpSeconds: 1, stream });
      const live: number[] = [];
      const probes = eventually(
        async () => live.push((await call(`${bench.weir.gatewayUrl}/health/live`)).status),
        (count) => count >= 50,
      );
      const offered = await load;
      await probes;
      assert.deepEqual(new Set(live), new Set([200]));
      return offered;
    };
    const holds = (overloaded: Offered): boolean => perSecond(overloaded) > perSecond(peak) * 0.75 && overloaded.shedMs.p50 < 50;
    const overloaded = await measureBest(offerTooMuch, holds);
    const shown = JSON.stringify({ peak, overloaded });
    assert.ok(holds(overloaded), shown);
    assert.ok(overloaded.shed > overloaded.good, shown);
    assert.deepEqual(overloaded.otherStatuses, {}, shown);
    const grown = (residentBytes(bench.weir.process.pid) ?? 0) - (memoryBefore ?? 0);
    assert.ok(grown < 100 * 1024 * 1024, `memory grew by ${grown} bytes`);
  });

  test('a tenant that floods does not occupy the slots of one within its share', async () => {
    const quiet = { apiKey: await bench.createKey('quiet'), perSecond: capacity / 4, stream };
    const alone = await bench.offer(quiet);
    const besideFlood = async () => {
      const [flood, beside] = await Promise.all([
        bench.offer({ perSecond: capacity * 5, seconds: 5, stream }),
        bench.offer({ ...quiet, seconds: 4.5, warmUpSeconds: 1.5 }),
      ]);
      return { flood, beside };
    };
    const isServed = ({ beside }: { readonly beside: Offered }): boolean =>
      beside.shed <= 0.02 * beside.offered && beside.goodMs.p90 < alone.goodMs.p90 * 1.5 + 100;
    const measured = await measureBest(besideFlood, isServed);
    const shown = JSON.stringify({ alone, ...measured });
    assert.ok(measured.flood.shed > measured.flood.good, shown);
    assert.ok(isServed(measured), shown);
  });

  test('many unknown keys are refused, and known ones are served as before', async () => {
    const known = { perSecond: capacity / 4, stream };
    const besideFlood = async () => {
      const [flood, beside] = await Promise.all([
        bench.offer({ perSecond: 1000, connections: 200, randomKeys: true, seconds: 4 }),
        bench.offer({ ...known, seconds: 3.5 }),
      ]);
      return { flood, beside };
    };
    const isServed = ({ beside }: { readonly beside: Offered }): boolean => beside.good >= beside.offered * 0.9;
    const measured = await measureBest(besideFlood, isServed);
    const shown = JSON.stringify(measured);
    assert.equal(measured.flood.good + measured.flood.shed, 0, shown);
    assert.ok((measured.flood.otherStatuses['401'] ?? 0) > 0, shown);
    assert.ok(isServed(measured), shown);
  });
});
