import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { eventually } from '../support/http.ts';
import { arrayInterface } from '../support/interfaces.ts';
import { openConnections } from '../support/open-connections.ts';
import { residentBytes } from '../support/process-memory.ts';
import type { SimulatedProgram } from '../support/start-simulated-weir.ts';
import {
  assertErrorEvent,
  assertErrorStatus,
  assertPartly,
  type FaultBench,
  type Mode,
  startFaultProgram,
  streamModes,
  wholeModes,
} from './fault-bench.ts';

const mebibyte = 1024 * 1024;
const stalledReaderMs = 2400;
const skip = residentBytes(process.pid) === undefined ? 'this system does not report the memory of a process' : false;

/** Upstreams that send far too much, and clients that never read: memory stays bounded, and every call ends. */
describe('memory', { skip }, () => {
  let bench: FaultBench<SimulatedProgram>;
  before(async () => {
    // The simulator prepares all of its output before it begins, for one stream after the other.
    bench = await startFaultProgram({ timeouts: { stalledReaderMs, firstByteMs: 180_000 } });
    // The first calls load code, which would distort the measurement.
    await bench.assertSound();
  });
  after(() => bench[Symbol.asyncDispose]());

  const resident = (): number => residentBytes(bench.weir.process.pid) ?? 0;

  /** The maximum memory growth of Weir during a task. */
  async function growthDuring(action: () => Promise<unknown>): Promise<number> {
    const before = resident();
    let peak = before;
    const timer = setInterval(() => (peak = Math.max(peak, resident())), 20);
    try {
      await action();
    } finally {
      clearInterval(timer);
    }
    return Math.max(peak, resident()) - before;
  }

  /** A client that never reads cannot notice that it was disconnected. */
  const allClosed = () =>
    eventually(
      () => openConnections(bench.weir.gatewayUrl),
      (connections) => connections === 0,
    );

  for (const mode of streamModes) {
    test(`${mode.title}: an event of 100 MB is refused and not buffered`, async () => {
      const growth = await growthDuring(async () => {
        const reply = await bench.send(mode, { steer: { fault: 'huge-event;after=5', 'output-tokens': '100' } });
        // The simulator's filler is a server-sent event, which ends an array in the middle.
        if (mode.api === arrayInterface) assert.match(reply.text, mode.api.errorEvent);
        else assertErrorEvent(mode, reply);
        assert.match(reply.text, /connection error|terminated/i);
        assertPartly(await bench.rowOf(reply), await bench.truthOf(reply.tag));
      });
      assert.ok(growth < 160 * mebibyte, `${Math.round(growth / mebibyte)} MB`);
    });
  }

  for (const mode of wholeModes) {
    test(`${mode.title}: a reply of 100 MB is refused and not buffered`, async () => {
      const growth = await growthDuring(async () => {
        const reply = await bench.send(mode, { steer: { fault: 'huge-event' } });
        assertErrorStatus(mode, reply, 502);
      });
      assert.ok(growth < 160 * mebibyte, `${Math.round(growth / mebibyte)} MB`);
    });
  }

  test('F60: clients never read their streams: the upstream waits, memory stays bounded, and the calls are closed and settled', async () => {
    const count = 12;
    let tags: string[] = [];
    await allClosed();
    const growth = await growthDuring(async () => {
      const calls = Array.from({ length: count }, (_, index) =>
        bench.open(streamModes[index % streamModes.length] as Mode, {
          neverRead: true,
          steer: { 'output-tokens': '800000' },
          body: streamModes[index % streamModes.length]?.api.dialect === 'anthropic-messages' ? { max_tokens: 1_000_000 } : {},
          limitMs: 180_000,
        }),
      );
      tags = calls.map(({ tag }) => tag);
      const heads = await Promise.all(calls.map(({ call }) => call.head));
      for (const [index, head] of heads.entries()) {
        const [entry, truth] = [await bench.rowOf(head), await bench.truthOf(tags[index] ?? '')];
        assert.equal(truth.ending, 'client-closed', 'the upstream had back-pressure and was then stopped');
        assert.ok(truth.emittedTokens < 800_000, `${truth.emittedTokens} tokens were read from the upstream`);
        assertPartly(entry, truth, 'client-left');
      }
      await allClosed();
      for (const { call } of calls) call.leave('rst');
    });
    assert.ok(growth < count * 4 * mebibyte + 60 * mebibyte, `${Math.round(growth / mebibyte)} MB for ${count} clients`);
  });

  test('limits.eventBytesMax is applied', async () => {
    await using small = await startFaultProgram({ config: { limits: { eventBytesMax: 100_000, replyBytesMax: 1024 } } });
    for (const mode of streamModes.filter(({ api }) => api !== arrayInterface))
      assertErrorEvent(mode, await small.send(mode, { steer: { fault: 'huge-event;after=2;bytes=200000' } }));
    for (const mode of wholeModes) assertErrorStatus(mode, await small.send(mode, { steer: { 'output-tokens': '4000' } }), 502);
  });

  test('afterwards the gateway is healthy', async () => {
    await eventually(
      () => bench.simulator.records().filter((record) => record.ending === 'open').length,
      (open) => open === 0,
    );
    await bench.assertSound();
  });
});
