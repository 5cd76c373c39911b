import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';

import { eventually } from '../support/http.ts';
import { openConnections } from '../support/open-connections.ts';
import { type FaultBench, startFaultBench, streamModes, wholeModes } from './fault-bench.ts';

const mebibyte = 1024 * 1024;
const skip = existsSync('/proc/net/tcp') ? false : 'this system does not list its connections';

/** A client that is still connected must not be disconnected because the machine stalls. */
describe('slow and silent readers', { skip }, () => {
  const patientMs = 8000;
  let bench: FaultBench;
  before(async () => {
    bench = await startFaultBench({ timeouts: { stalledReaderMs: patientMs } });
  });
  after(() => bench[Symbol.asyncDispose]());

  /** A client that never reads cannot notice that it was disconnected. */
  const allClosed = () =>
    eventually(
      () => openConnections(bench.weir.gatewayUrl),
      (connections) => connections === 0,
    );

  const [messages] = streamModes;
  assert.ok(messages);

  test('a client that reads slowly gets the whole reply', async () => {
    const { tag, call } = bench.open(messages, {
      steer: { 'output-tokens': '100000' },
      body: { max_tokens: 1_000_000 },
      limitMs: 180_000,
    });
    await call.head;
    // Together longer than the time that a reader may read nothing.
    for (let pauses = 0; pauses < 6; pauses++) {
      call.pause();
      await new Promise((resolve) => setTimeout(resolve, patientMs / 5));
      call.resume();
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
    const reply = await call.done;
    assert.equal(reply.end, 'complete');
    assert.match(reply.text, messages.api.terminal);
    const [entry, truth] = [await bench.rowOf(reply), await bench.truthOf(tag)];
    assert.equal(entry.end, 'finished');
    assert.equal(entry.usage.outputTokens, 100_000);
    assert.equal(truth.ending, 'completed');
  });

  test('a client that never reads a whole reply is disconnected', async () => {
    const [mode] = wholeModes;
    assert.ok(mode);
    await allClosed();
    const { call } = bench.open(mode, { neverRead: true, steer: { fault: `huge-event;bytes=${40 * mebibyte}` } });
    await call.head;
    try {
      assert.equal(openConnections(bench.weir.gatewayUrl), 1);
      await allClosed();
    } finally {
      call.leave('rst');
    }
  });

  test('afterwards the gateway is healthy', () => bench.assertSound());
});
