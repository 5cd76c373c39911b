import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { eventually } from '../support/http.ts';
import { arrayInterface } from '../support/interfaces.ts';
import { allModes, streamModes } from './fault-bench.ts';
import type { FaultRow } from './fault-rows.ts';
import { assertInvisible, casesOf, startTwoTargets, type TwoTargets } from './two-targets.ts';

const silent: FaultRow = { id: 'silent', name: 'silence before headers', fault: 'stall-before-headers' };
const openings: FaultRow = { id: 'openings', name: 'silence after the opening events', fault: 'stall-mid-stream;after=0', only: 'stream' };

/** Events between two attempts of one call. */
describe('while a call waits at its first target', { concurrency: 16 }, () => {
  let bench: TwoTargets;
  const leaving = casesOf([silent], allModes, ['same']);
  const kept = casesOf([{ ...silent, id: 'kept' }, openings], streamModes, ['same', 'translated']);
  before(async () => {
    bench = await startTwoTargets([...leaving, ...kept], { heartbeatMs: 150 });
  });
  after(() => bench[Symbol.asyncDispose]());

  for (const which of leaving) {
    test(`${which.mode.title}: a client that disconnects gets no second attempt, and pays nothing`, async () => {
      const { tag, call } = bench.open(which);
      await bench.reached(tag);
      call.leave('rst');
      const { first, second } = await bench.truthsOf(tag);
      assert.deepEqual([first.length, second.length], [1, 0]);
      assert.equal(first[0]?.ending, 'client-closed');
      // The possible source of a wrong second attempt.
      await new Promise((resolve) => setTimeout(resolve, 700));
      const later = await bench.truthsOf(tag);
      assert.equal(later.second.length, 0);
    });
  }

  for (const which of kept) {
    const { mode, row, fallback } = which;
    test(`${mode.title}, ${row.name}, ${fallback}: the other target's reply follows, after heartbeats if the stream had begun`, async () => {
      const seen = await bench.run(which);
      assertInvisible(which, seen);
      // A stream that has not begun has no head, and a heartbeat must not decide its status.
      if (row !== openings || mode.api === arrayInterface) return;
      assert.match(seen.reply.text, /^(?:event: ping|: .*|:|data: \{"usageMetadata":\{\}\})\r?\n/, 'heartbeats keep the client connected');
    });
  }

  test('afterwards the gateway is healthy', { concurrency: 1 }, async () => {
    await eventually(
      async () => (await bench.ledger.all()).filter(({ end }) => end === 'failed').every(({ charge }) => charge.amountNanoUsd === 0n),
      (free) => free,
    );
    await bench.assertSound();
  });
});
