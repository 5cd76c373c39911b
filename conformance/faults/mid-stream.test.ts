import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { arrayInterface } from '../support/interfaces.ts';
import {
  assertErrorEvent,
  assertErrorStatus,
  assertFree,
  assertPartly,
  type FaultBench,
  startFaultBench,
  streamModes,
} from './fault-bench.ts';

/** A stream that breaks after content has an error event, never looks finished, and costs what was delivered. */
describe('faults in the middle of a stream', () => {
  let bench: FaultBench;
  before(async () => {
    // A correct stream must not be silent for longer either, even if the machine stalls.
    bench = await startFaultBench({ timeouts: { idleMs: 8000 } });
  });
  after(() => bench[Symbol.asyncDispose]());

  // Slow enough that the content before the break reaches the client separately: a reply that breaks in the same write
  // as it begins has delivered nothing.
  const steer = (fault: string) => ({ steer: { fault, 'output-tokens': '120', pace: 'tokensPerSecond=60;tokensPerFrame=4' } });
  const broken: readonly string[] = [
    'reset-mid-stream;after=5',
    'reset-mid-stream;after=5;cut=inside',
    'truncate;how=fin;after=5',
    'truncate;how=eof;after=5',
    'truncate;how=end;after=5',
    'truncate;how=long-length;after=5',
    'stall-mid-stream;after=5',
  ];
  describe('in every form of the request', { concurrency: 5 }, () => {
    for (const mode of streamModes) {
      describe(mode.title, { concurrency: 8 }, () => {
        for (const fault of broken) {
          test(`F18, F24, F25, F28, ${fault}: the client gets the dialect's error event, and is charged for the delivered content`, async () => {
            const reply = await bench.send(mode, steer(fault));
            assertErrorEvent(mode, reply);
            assert.match(reply.text, /connection error|terminated/i);
            const [entry, truth] = [await bench.rowOf(reply), await bench.truthOf(reply.tag)];
            assertPartly(entry, truth);
            assert.ok(truth.emittedTokens >= 16, `the upstream emitted ${truth.emittedTokens}`);
            // Hidden reasoning is unknown until the usage arrives, which never happens here.
            const shown = truth.emittedTokens - (truth.plannedUsage?.reasoningTokens ?? 0);
            assert.ok((entry.usage.outputTokens ?? 0) >= shown - 8, `booked ${entry.usage.outputTokens} of ${shown}`);
            assert.ok(entry.errorCode);
            assert.ok((entry.firstByteMs ?? -1) >= 0);
          });
        }

        test("F27: the vendor's own error event is passed on, and nothing follows it", async () => {
          const reply = await bench.send(mode, steer('error-event;after=5'));
          assert.equal(reply.status, 200);
          assert.equal(reply.end, 'complete');
          assert.match(reply.text, /"error"/);
          assert.doesNotMatch(reply.text, mode.api.terminal);
          assert.doesNotMatch(reply.text, /Upstream connection error/, "the vendor's event is the only error");
          const [entry, truth] = [await bench.rowOf(reply), await bench.truthOf(reply.tag)];
          assertPartly(entry, truth);
        });

        test('the sentinel never comes', async () => {
          const reply = await bench.send(mode, steer('missing-sentinel'));
          const [entry, truth] = [await bench.rowOf(reply), await bench.truthOf(reply.tag)];
          assert.equal(reply.end, 'complete');
          if (mode.api === arrayInterface) {
            // Only the closing bracket is missing: the array is closed after an error element, so that it can be
            // parsed.
            assert.match(reply.text, mode.api.errorEvent);
            assert.ok(Array.isArray(JSON.parse(reply.text)));
            assertPartly(entry, truth);
            return;
          }
          assert.doesNotMatch(reply.text, mode.api.terminal);
          if (mode.api.dialect === 'openai-chat') {
            // Every choice has finished and the usage has arrived: some servers end like this, without the final mark.
            assert.equal(entry.end, 'finished');
            assert.equal(entry.estimated, false);
            return;
          }
          assertErrorEvent(mode, reply);
          assertPartly(entry, truth);
        });

        for (const fault of ['truncate;how=short-length']) {
          test(`${fault}: not treated as complete`, async () => {
            const reply = await bench.send(mode, steer(fault));
            if (reply.status === 200) assertErrorEvent(mode, reply);
            else assertErrorStatus(mode, reply, /^5\d\d$/);
            const [entry, truth] = [await bench.rowOf(reply), await bench.truthOf(reply.tag)];
            if (entry.end === 'failed') assertFree(entry);
            else assertPartly(entry, truth);
          });
        }

        test('F62: a malformed event is passed on, and the stream continues', async () => {
          const reply = await bench.send(mode, steer('malformed-event;after=5'));
          const [entry] = [await bench.rowOf(reply), await bench.truthOf(reply.tag)];
          assert.equal(reply.end, 'complete');
          if (entry.end === 'finished') {
            assert.match(reply.text, mode.api.terminal);
            assert.ok(entry.charge.amountNanoUsd > 0n);
          } else {
            // Inside an array the end of a malformed element is unknown.
            assert.equal(mode.api, arrayInterface);
            assert.match(reply.text, mode.api.errorEvent);
            assert.equal(entry.end, 'cut');
          }
        });
      });
    }
  });

  test('afterwards the gateway is healthy', () => bench.assertSound());
});
