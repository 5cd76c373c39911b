import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { plannedUsage, priceBound, priceOf, type Truth } from '../support/audit.ts';
import { eventually } from '../support/http.ts';
import { assertFree, assertPartly, type FaultBench, type Mode, startFaultBench, streamModes, wholeModes } from './fault-bench.ts';

/** Beside other tests; leaving.timing measures that it takes at most 200 ms. */
const noticedWithinMs = 15_000;
const tokensPerSecond = 200;
/** Output that may be in transit when the client disconnects, or that is sent until the upstream has noticed. */
const inFlightTokens = (noticedMs: number): number => (tokensPerSecond * (noticedMs + 200)) / 1000 + 16;

/** Clients that disconnect: the upstream is stopped at once, and exactly the generated output is charged. */
describe('the client disconnects', { concurrency: 8 }, () => {
  let bench: FaultBench;
  before(async () => {
    bench = await startFaultBench();
  });
  after(() => bench[Symbol.asyncDispose]());

  const pace = `tokensPerSecond=${tokensPerSecond};tokensPerFrame=4`;
  const shown = (text: string): number => text.split(/"(?:text|content|delta)"\s*:\s*"/).length;

  for (const mode of streamModes) {
    for (const how of ['fin', 'rst', 'half'] as const) {
      test(`F19, F20, F22, F30, F32, ${mode.title}: mid-stream (${how})`, async () => {
        const { tag, call } = bench.open(mode, { steer: { pace, 'output-tokens': '2000' } });
        await call.until((text) => shown(text) > 12);
        const head = await call.head;
        const leftAtMs = Date.now();
        call.leave(how);
        const [entry, truth] = [await bench.rowOf(head), await bench.truthOf(tag)];
        assert.equal(truth.ending, 'client-closed');
        const noticedMs = (truth.endedAtMs ?? 0) - leftAtMs;
        assert.ok(noticedMs <= noticedWithinMs, `noticed after ${noticedMs} ms`);
        assertPartly(entry, truth, 'client-left');
        const visible = truth.emittedTokens - (truth.plannedUsage?.reasoningTokens ?? 0);
        assert.ok(
          (entry.usage.outputTokens ?? 0) >= visible - inFlightTokens(noticedMs),
          `booked ${entry.usage.outputTokens} of ${visible}`,
        );
        assert.ok((entry.usage.inputTokens ?? 0) + (entry.usage.cacheReadTokens ?? 0) > 0, 'its input is counted');
        if (how === 'half') assert.notEqual((await call.done).end, 'complete');
      });
    }

    test(`F29, ${mode.title}: a disconnect just before the last event`, async () => {
      const { tag, call } = bench.open(mode, {
        steer: { pace: 'tokensPerSecond=2000;tokensPerFrame=4', 'output-tokens': '400', fault: 'stall-mid-stream;after=98;ms=20000' },
      });
      await call.until((text) => shown(text) > 90);
      const head = await call.head;
      call.leave('rst');
      const [entry, truth] = [await bench.rowOf(head), await bench.truthOf(tag)];
      assertPartly(entry, truth, 'client-left');
      assert.ok((entry.usage.outputTokens ?? 0) >= 340, `booked ${entry.usage.outputTokens}`);
    });

    test(`${mode.title}: after the end of the reply it has already been booked exactly`, async () => {
      const { tag, call } = bench.open(mode, {});
      await call.until((text) => mode.api.terminal.test(text));
      const head = await call.head;
      call.leave('rst');
      const [entry, truth] = [await bench.rowOf(head), await bench.truthOf(tag)];
      assert.equal(entry.end, 'finished');
      assert.equal(entry.charge.amountNanoUsd, priceOf(entry, plannedUsage(truth)));
    });
  }

  const reached = (tag: string, isThere: (record: Truth | undefined) => boolean) =>
    eventually(() => bench.simulator.records().find((record) => record.tag === tag), isThere);

  /** The row of a call whose client never received its id: the one whose request had the same number of characters. */
  async function rowBySize(mode: Mode, characters: number): Promise<Awaited<ReturnType<FaultBench['rowOf']>>> {
    const near = (count: number): boolean => count >= characters && count < characters + 200;
    const [row] = await eventually(
      async () => (await bench.ledger.all()).filter((entry) => entry.dialect === mode.api.dialect && near(entry.inputCharacters)),
      (rows) => rows.length === 1,
    );
    assert.ok(row);
    return row;
  }

  for (const [index, mode] of [...wholeModes, ...streamModes].entries()) {
    for (const how of ['fin', 'rst', 'half'] as const) {
      test(`${mode.title}: a disconnect before headers (${how})`, async () => {
        const characters = 10_000 + index * 3000 + ['fin', 'rst', 'half'].indexOf(how) * 1000;
        const { tag, call } = bench.open(mode, { text: 'x'.repeat(characters), steer: { fault: 'stall-before-headers' } });
        await reached(tag, (record) => record !== undefined);
        const leftAtMs = Date.now();
        call.leave(how);
        const truth = await bench.truthOf(tag);
        assert.equal(truth.ending, 'client-closed');
        assert.ok((truth.endedAtMs ?? 0) - leftAtMs <= noticedWithinMs);
        assertFree(await rowBySize(mode, characters));
      });
    }
  }

  for (const mode of wholeModes) {
    test(`${mode.title}: a call whose client leaves during a whole reply costs at most the truth, and the upstream is stopped`, async () => {
      const { tag, call } = bench.open(mode, { text: 'x'.repeat(7777), steer: { fault: 'slow-drip;rate=200' } });
      await reached(tag, (record) => record?.headersAtMs !== undefined);
      // The gateway must have the head; its client gets nothing of it before the whole reply has arrived.
      await new Promise((resolve) => setTimeout(resolve, 1000));
      const leftAtMs = Date.now();
      call.leave('fin');
      const truth = await bench.truthOf(tag);
      assert.ok((truth.endedAtMs ?? 0) - leftAtMs <= noticedWithinMs);
      const entry = await rowBySize(mode, 7777);
      assert.equal(entry.end, 'client-left');
      assert.equal(entry.estimated, true);
      assert.ok(entry.charge.amountNanoUsd <= priceBound(entry, truth));
    });
  }

  test('afterwards the gateway is healthy', () => bench.assertSound());
});
