import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { arrayInterface } from '../support/interfaces.ts';
import { assertErrorEvent, type FaultBench, type Mode, startFaultBench, streamModes } from './fault-bench.ts';

const heartbeatMs = 150;
/** Two heartbeats are sent within this time even if the machine stalls for some seconds. */
const silenceMs = 6000;

/**
 * A silent upstream: heartbeats that have no meaning in the dialect keep the client connected, and the vendor's bytes
 * stay unchanged.
 */
describe('heartbeats', { concurrency: 20 }, () => {
  let bench: FaultBench;
  before(async () => {
    bench = await startFaultBench({ timeouts: { heartbeatMs, idleMs: 14_000 } });
  });
  after(() => bench[Symbol.asyncDispose]());

  function form(mode: Mode): string {
    if (mode.api === arrayInterface) return '\n';
    switch (mode.api.dialect) {
      case 'anthropic-messages':
        return 'event: ping\ndata: {"type": "ping"}\n\n';
      case 'gemini-generate-content':
        return 'data: {"usageMetadata":{}}\r\n\r\n';
      case 'openai-chat':
      case 'openai-responses':
        return ': keep-alive\n\n';
    }
  }

  for (const mode of streamModes) {
    for (const fault of [`stall-after-headers;ms=${silenceMs}`, `stall-mid-stream;after=3;ms=${silenceMs}`]) {
      test(`${mode.title}: ${fault}: heartbeats come at frame boundaries and nothing else changes`, async () => {
        const steer = { 'output-tokens': '40' };
        const calm = await bench.send(mode, { steer });
        const askedMs = performance.now();
        const reply = await bench.send(mode, { steer: { ...steer, fault } });
        const beatsMax = (performance.now() - askedMs) / heartbeatMs + 1;
        assert.equal(reply.end, 'complete');
        const variable = /"[^"]*(?:id|Id)":\s*"[^"]*"|"obfuscation":"[^"]*"|"created(?:_at)?":\d+|"completed_at":\d+| +$/gm;
        const beat = form(mode);
        if (mode.api === arrayInterface) {
          // A lone line end inside the array, where white space means nothing.
          const extra = reply.text.length - calm.text.length;
          assert.ok(extra >= 2 && extra <= beatsMax, `${extra} heartbeats`);
          const plain = (text: string): unknown => JSON.parse(text.replaceAll(variable, '"x":1'));
          assert.deepEqual(plain(reply.text), plain(calm.text));
        } else {
          const own = calm.text.split(beat).length - 1;
          const beats = reply.text.split(beat).length - 1 - own;
          assert.ok(beats >= 2 && beats <= beatsMax, `${beats} heartbeats`);
          const bare = (text: string): string => text.replaceAll(beat, '').replaceAll(variable, '');
          assert.equal(bare(reply.text), bare(calm.text));
        }
        const entry = await bench.rowOf(reply);
        assert.equal(entry.end, 'finished');
        assert.equal(entry.estimated, false);
      });
    }

    test(`${mode.title}: heartbeats do not extend the time-out of a dead upstream, and the error comes as an event`, async () => {
      const reply = await bench.send(mode, { steer: { fault: 'stall-after-headers' } });
      assertErrorEvent(mode, reply);
      const entry = await bench.rowOf(reply);
      assert.equal(entry.end, 'failed');
      assert.equal(entry.charge.amountNanoUsd, 0n);
    });
  }

  test('afterwards the gateway is healthy', () => bench.assertSound());
});
