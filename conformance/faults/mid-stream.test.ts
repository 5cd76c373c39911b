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

/** A stream that breaks after content has flowed: it says so, never looks finished, and costs what was delivered. */
describe('faults in the middle of a stream', () => {
  let bench: FaultBench;
  before(async () => {
    // Of what is well, too, nothing may be silent for longer, also where the machine stands still.
    bench = await startFaultBench({ timeouts: { idleMs: 8000 } });
  });
  after(() => bench[Symbol.asyncDispose]());

  // Slow enough for what comes before the break to reach the client by itself: what breaks in the same breath as it begins has delivered nothing.
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
  describe('however it is asked for', { concurrency: 5 }, () => {
    for (const mode of streamModes) {
      describe(mode.title, { concurrency: 8 }, () => {
        for (const fault of broken) {
          test(`F18, F24, F25, F28, ${fault}: the dialect's error event, and a charge for what was delivered`, async () => {
            const reply = await bench.send(mode, steer(fault));
            assertErrorEvent(mode, reply);
            assert.match(reply.text, /connection error|terminated/i);
            const [entry, truth] = [await bench.rowOf(reply), await bench.truthOf(reply.tag)];
            assertPartly(entry, truth);
            assert.ok(truth.emittedTokens >= 16, `the upstream emitted ${truth.emittedTokens}`);
            // Reasoning that is not shown is unknown until the usage comes, which it never does here.
            const shown = truth.emittedTokens - (truth.plannedUsage?.reasoningTokens ?? 0);
            assert.ok((entry.usage.outputTokens ?? 0) >= shown - 8, `booked ${entry.usage.outputTokens} of ${shown}`);
            assert.ok(entry.errorCode);
            assert.ok((entry.firstByteMs ?? -1) >= 0);
          });
        }

        test("F27: the vendor's own error event goes on, and nothing follows it", async () => {
          const reply = await bench.send(mode, steer('error-event;after=5'));
          assert.equal(reply.status, 200);
          assert.equal(reply.end, 'complete');
          assert.match(reply.text, /"error"/);
          assert.doesNotMatch(reply.text, mode.api.terminal);
          assert.doesNotMatch(reply.text, /Upstream connection error/, 'the vendor has said it already');
          const [entry, truth] = [await bench.rowOf(reply), await bench.truthOf(reply.tag)];
          assertPartly(entry, truth);
        });

        test('the sentinel never comes', async () => {
          const reply = await bench.send(mode, steer('missing-sentinel'));
          const [entry, truth] = [await bench.rowOf(reply), await bench.truthOf(reply.tag)];
          assert.equal(reply.end, 'complete');
          if (mode.api === arrayInterface) {
            // All that is missing is the closing bracket: the array is closed after an error element, so that it can be parsed at all.
            assert.match(reply.text, mode.api.errorEvent);
            assert.ok(Array.isArray(JSON.parse(reply.text)));
            assertPartly(entry, truth);
            return;
          }
          assert.doesNotMatch(reply.text, mode.api.terminal);
          if (mode.api.dialect === 'openai-chat') {
            // Every choice has finished and the usage has come: some servers end so, and nothing is missing but the sentinel.
            assert.equal(entry.end, 'finished');
            assert.equal(entry.estimated, false);
            return;
          }
          assertErrorEvent(mode, reply);
          assertPartly(entry, truth);
        });

        for (const fault of ['truncate;how=short-length']) {
          test(`${fault}: not taken for the whole`, async () => {
            const reply = await bench.send(mode, steer(fault));
            if (reply.status === 200) assertErrorEvent(mode, reply);
            else assertErrorStatus(mode, reply, /^5\d\d$/);
            const [entry, truth] = [await bench.rowOf(reply), await bench.truthOf(reply.tag)];
            if (entry.end === 'failed') assertFree(entry);
            else assertPartly(entry, truth);
          });
        }

        test('F62: a malformed event passes on, and the stream goes on', async () => {
          const reply = await bench.send(mode, steer('malformed-event;after=5'));
          const [entry] = [await bench.rowOf(reply), await bench.truthOf(reply.tag)];
          assert.equal(reply.end, 'complete');
          if (entry.end === 'finished') {
            assert.match(reply.text, mode.api.terminal);
            assert.ok(entry.charge.amountNanoUsd > 0n);
          } else {
            // Inside an array nobody can tell where a malformed element would have ended.
            assert.equal(mode.api, arrayInterface);
            assert.match(reply.text, mode.api.errorEvent);
            assert.equal(entry.end, 'cut');
          }
        });
      });
    }
  });

  test('afterwards everything is as it should be', () => bench.assertSound());
});
