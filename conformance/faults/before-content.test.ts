import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { arrayInterface } from '../support/interfaces.ts';
import { upstreamKey } from '../support/start-simulated-weir.ts';
import {
  allModes,
  assertErrorEvent,
  assertErrorStatus,
  assertFree,
  type FaultBench,
  type Mode,
  modesInTurn,
  startFaultBench,
  streamModes,
} from './fault-bench.ts';

/** A port without a listener: the system does not assign it to a program that asks for any port. */
const closedPort = 9;

const vendorOf: Readonly<Record<string, string>> = {
  'anthropic-messages': 'anthropic',
  'openai-responses': 'openai',
  'openai-chat': 'openai',
  'gemini-generate-content': 'gemini',
};

/**
 * An upstream that fails before it has generated anything: the client gets a status of its dialect, and pays nothing.
 */
describe('faults before the first content', () => {
  let bench: FaultBench;
  before(async () => {
    const vendors = ['anthropic', 'openai', 'gemini'];
    bench = await startFaultBench({
      // Correct replies must not take longer either, even on a busy or stalled machine.
      timeouts: { firstByteMs: 8000, idleMs: 8000 },
      upstreams: () =>
        Object.fromEntries(
          vendors.map((vendor) => [`dead-${vendor}`, { vendor, baseUrl: `http://127.0.0.1:${closedPort}`, apiKey: upstreamKey }]),
        ),
      models: Object.fromEntries(
        vendors.map((vendor) => [`on-dead-${vendor}`, { targets: [{ upstream: `dead-${vendor}`, model: 'any' }] }]),
      ),
    });
  });
  after(() => bench[Symbol.asyncDispose]());

  type Case = {
    readonly name: string;
    readonly fault: string;
    readonly status: number | RegExp;
    readonly words: RegExp;
    readonly only?: (mode: Mode) => boolean;
  };
  const broken = /connection error|terminated/i;
  // The HTTP parser decides how it reports two lengths; the gateway only decides that the answer is invalid.
  const invalidHttp = /^50[23]$/;
  const cases: readonly Case[] = [
    { name: 'the connection is reset instead of an answer', fault: 'refuse', status: 503, words: broken },
    { name: 'the connection is reset before headers', fault: 'reset-before-headers', status: 503, words: broken },
    { name: 'silence before headers', fault: 'stall-before-headers', status: 504, words: broken },
    // With a duration, because the simulator's endless whole reply promises a length of 0, which is a complete body.
    { name: 'silence after headers', fault: 'stall-after-headers;ms=60000', status: 504, words: broken },
    {
      name: 'reset after headers, before content',
      fault: 'reset-mid-stream;after=0',
      status: 503,
      words: broken,
      only: (mode) => !mode.stream,
    },
    {
      name: 'fin after headers, before content',
      fault: 'truncate;how=fin;after=0',
      status: 503,
      words: broken,
      only: (mode) => !mode.stream,
    },
    { name: 'HTML with 200', fault: 'html;status=200', status: 502, words: broken },
    { name: 'HTML with 502', fault: 'html;status=502', status: 502, words: broken },
    { name: 'HTML with 500', fault: 'html;status=500', status: 500, words: broken },
    { name: 'an empty body with 200', fault: 'empty-body', status: /^50[23]$/, words: broken },
    {
      name: 'an error inside a 200',
      fault: 'error-in-200;status=500;message=Simulated inner failure',
      status: /^5\d\d$/,
      words: /Simulated inner failure/,
    },
    { name: 'gzip although identity was requested', fault: 'gzip', status: 502, words: broken },
    { name: 'headers of 100 kB', fault: 'long-header;bytes=100000', status: 502, words: broken },
    { name: 'a redirect', fault: 'redirect;status=307', status: 502, words: broken },
    {
      name: 'length and chunked at the same time',
      fault: 'conflicting-lengths;kind=length-and-chunked',
      status: invalidHttp,
      words: broken,
    },
    { name: 'two lengths', fault: 'conflicting-lengths;kind=two-lengths', status: invalidHttp, words: broken },
    { name: 'half a JSON', fault: 'malformed-event', status: 502, words: broken, only: (mode) => !mode.stream },
    { name: 'a body longer than its length', fault: 'truncate;how=short-length', status: 502, words: broken, only: (mode) => !mode.stream },
    {
      name: 'a body shorter than its length',
      fault: 'truncate;how=long-length;after=0',
      status: 503,
      words: broken,
      only: (mode) => !mode.stream,
    },
    { name: 'half a body ended by the connection', fault: 'truncate;how=eof', status: 502, words: broken, only: (mode) => !mode.stream },
    { name: 'half a body ended properly', fault: 'truncate;how=end', status: 502, words: broken, only: (mode) => !mode.stream },
  ];
  // Many of the calls wait until a time-out ends.
  describe('in every form of the request', { concurrency: 12 }, () => {
    for (const mode of allModes) {
      describe(mode.title, { concurrency: 8 }, () => {
        for (const [at, { name, fault, status, words, only = () => true }] of cases.entries()) {
          if (!modesInTurn(allModes.filter(only), at).includes(mode)) continue;
          test(`F26, F64, ${name}: an error status, and free`, async () => {
            const reply = await bench.send(mode, { steer: { fault } });
            assertErrorStatus(mode, reply, status);
            assert.match(reply.text, words);
            const entry = await bench.rowOf(reply);
            assertFree(entry);
            assert.ok(entry.errorCode, 'the row has the reason');
          });
        }

        test('a port without a listener: 503, retry advice, and free', async () => {
          const reply = await bench.send(mode, { model: `on-dead-${vendorOf[mode.api.dialect]}` });
          assertErrorStatus(mode, reply, 503);
          assert.match(reply.text, broken);
          assert.equal(reply.headers['retry-after'], '1');
          assertFree(await bench.rowOf(reply));
        });

        for (const [at, status] of [400, 404, 413, 429, 500, 503, 529].entries()) {
          if (!modesInTurn(allModes, at).includes(mode)) continue;
          test(`the vendor's own ${status} is passed on with its retry advice`, async () => {
            const reply = await bench.send(mode, {
              steer: { fault: `status;status=${status};message=Simulated refusal;retry-after=7;retry-after-ms=7100;x-should-retry=true` },
            });
            assertErrorStatus(mode, reply, status);
            assert.match(reply.text, /Simulated refusal/);
            assert.equal(reply.headers['retry-after'], '7');
            assert.equal(reply.headers['retry-after-ms'], '7100');
            assert.equal(reply.headers['x-should-retry'], 'true');
            assert.match(String(reply.headers['content-type']), /application\/json/);
            assertFree(await bench.rowOf(reply));
          });
        }

        test("a refusal of the operator's credential is a 503 that does not show it", async () => {
          const reply = await bench.send(mode, { steer: { fault: 'echo-credentials;status=401' } });
          assertErrorStatus(mode, reply, 503);
          assert.ok(!reply.text.includes(upstreamKey));
          assert.doesNotMatch(JSON.stringify(reply.headers), /x-echoed/);
          assertFree(await bench.rowOf(reply));
        });

        for (const [status, message] of [
          [402, 'Simulated refusal'],
          [403, 'This API key was disabled'],
        ] as const) {
          test(`the vendor's ${status} is about the operator's account: the client learns that the cause is not its request`, async () => {
            const reply = await bench.send(mode, { steer: { fault: `status;status=${status};message=${message}` } });
            assertErrorStatus(mode, reply, 503);
            assert.ok(!reply.text.includes(message), reply.text);
            assertFree(await bench.rowOf(reply));
          });
        }

        test("a vendor's 403 that is not about the key is returned to the caller with the vendor's reason", async () => {
          const reply = await bench.send(mode, { steer: { fault: 'status;status=403;message=Simulated refusal' } });
          assertErrorStatus(mode, reply, 403);
          assert.match(reply.text, /Simulated refusal/);
          assertFree(await bench.rowOf(reply));
        });

        for (const status of [400, 403, 500]) {
          test(`a ${status} that quotes the operator's credential does not show it`, async () => {
            const reply = await bench.send(mode, { steer: { fault: `echo-credentials;status=${status}` } });
            // A vendor that refuses the credential with a 400 is recognised by its message.
            assertErrorStatus(mode, reply, reply.status === 503 ? 503 : status);
            assert.ok(!reply.text.includes(upstreamKey), reply.text);
            assert.ok(!JSON.stringify(reply.headers).includes(upstreamKey));
            assertFree(await bench.rowOf(reply));
          });
        }

        test("an error inside a 200 that quotes the operator's credential does not show it", async () => {
          const reply = await bench.send(mode, { steer: { fault: `error-in-200;message=Incorrect key ${upstreamKey} provided` } });
          assert.notEqual(reply.status, 200);
          assert.ok(!reply.text.includes(upstreamKey), reply.text);
        });
      });
    }

    for (const mode of streamModes) {
      for (const fault of [
        'reset-mid-stream;after=0',
        'truncate;how=fin;after=0',
        'truncate;how=eof;after=0',
        'truncate;how=end;after=0',
        'error-event;after=0',
        'stall-mid-stream;after=0',
      ]) {
        // The simulator's error event of an array stream continues an array, so it cannot be its first element.
        if (fault.startsWith('error-event') && mode.api === arrayInterface) continue;
        test(`${mode.title}: ${fault}: opening events may have been sent but no content, so it is free`, async () => {
          const reply = await bench.send(mode, { steer: { fault } });
          // Formats without opening events have sent nothing yet, and use a status.
          if (reply.status === 200) assertErrorEvent(mode, reply);
          else assertErrorStatus(mode, reply, /^5\d\d$/);
          if (!fault.startsWith('error-event')) assert.match(reply.text, broken);
          assertFree(await bench.rowOf(reply));
        });
      }
    }
  });

  test('a redirect is not followed, not even to the same server', async () => {
    const before = bench.simulator.records().length;
    for (const status of [301, 302, 303, 307, 308]) {
      const [mode] = allModes;
      assert.ok(mode);
      const reply = await bench.send(mode, {
        steer: { fault: `redirect;status=${status};location=${bench.simulator.addresses.anthropic}/v1/messages` },
      });
      assertErrorStatus(mode, reply, 502);
      assert.equal(reply.headers.location, undefined);
    }
    assert.equal(bench.simulator.records().length, before + 5);
  });

  test('afterwards the gateway is healthy', () => bench.assertSound());
});
