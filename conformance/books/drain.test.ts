import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { auditBooks } from '../support/audit.ts';
import { openLedger } from '../support/read-ledger.ts';
import { call, eventually, untilRefused } from '../support/http.ts';
import { scaled, usualOrLong } from '../support/scale.ts';
import { startSimulatorProcess } from '../support/start-simulator-process.ts';
import { startWeir } from '../support/start-weir.ts';
import { makeCall, modeOf, simulatedUpstreams } from './load.ts';

const streams = Number(process.env['WEIR_STREAMS'] ?? scaled(40, usualOrLong(100, 500)));
/**
 * As long as the test needs for its observations, also on a busy machine. It is shorter than the streams, so that it
 * adds no time.
 */
const drainDelayMs = 12_000;

/** Workers drain as processes of their own: a part of the deep form. shutdown.test.ts has the end of one process. */
const forms = scaled(1, 2);

for (const commandArguments of [[], ['--workers', '2']].slice(0, forms)) {
  test(`weir gateway ${commandArguments.join(' ')}: SIGTERM with ${streams} live streams cuts none, and readiness reports it before anything is closed`, async (context) => {
    const directory = mkdtempSync(join(tmpdir(), 'weir-drain-'));
    await using simulator = await startSimulatorProcess(join(directory, 'truth.jsonl'), { pace: 'tokensPerSecond=60;tokensPerFrame=30' });
    const config = JSON.stringify({
      upstreams: simulatedUpstreams(simulator.addresses),
      timeouts: { drainDelayMs, drainMs: 120_000 },
      // On a busy machine the overload gate would correctly refuse some of the calls; this test is about the drain.
      overload: { loopDelayMs: 60_000 },
    });
    const weir = await startWeir({ dataDirectory: directory, config, command: 'gateway', commandArguments });
    try {
      const calls = Array.from({ length: streams }, (_, index) =>
        makeCall(weir.gatewayUrl, weir.apiKey, {
          ...modeOf(index),
          stream: true,
          number: index + 1,
          body: modeOf(index).api.dialect === 'anthropic-messages' ? { max_tokens: 100_000 } : {},
          steer: { 'output-tokens': '1200' },
          limitMs: 120_000,
        }),
      );
      // On a slow machine the first have ended when the last begin.
      await eventually(
        () => simulator.truths().length,
        (begun) => begun >= 0.95 * streams,
        60_000,
      );
      const live = simulator.truths().filter(({ ending }) => ending === 'open').length;
      assert.ok(live >= streams / 2, `${live} live streams`);
      const startedMs = performance.now();
      const stopped = weir.stop('SIGTERM');
      const ready = await eventually(
        () => call(`${weir.gatewayUrl}/health/ready`),
        ({ status }) => status === 503,
      );
      assert.deepEqual(ready.json.reasons, ['shutting down']);
      assert.equal(ready.headers['connection'], 'close');
      assert.equal((await call(`${weir.gatewayUrl}/health/live`)).status, 200);
      const late = await makeCall(weir.gatewayUrl, weir.apiKey, { ...modeOf(1), number: streams + 1, steer: { 'output-tokens': '5' } });
      assert.ok(late.complete, `calls are accepted while clients still connect: ${late.status} ${late.text.slice(0, 300)}`);
      // Then the port is closed.
      await untilRefused(weir.gatewayUrl);
      assert.ok(performance.now() - startedMs >= drainDelayMs - 200);
      const views = [...(await Promise.all(calls)), late];
      assert.deepEqual(
        views.filter(({ complete }) => !complete).map(({ tag, status, text }) => `${tag}: ${status} ${text.slice(-100)}`),
        [],
      );
      assert.equal(await stopped, 0);
      context.diagnostic(`${live} live streams, the last ended ${Math.round(performance.now() - startedMs)} ms after SIGTERM`);
      const ledger = await openLedger(directory);
      const audit = auditBooks({ entries: await ledger.all(), truths: simulator.truths(), clients: views, lostTokensMax: 0 });
      await ledger.close();
      assert.deepEqual(audit.problems, []);
      assert.equal(audit.counts['complete'], streams + 1);
    } finally {
      await weir[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true, force: true });
    }
  });
}

const skip = scaled(0, 1) === 0 && 'workers are part of the deep form';

test(
  'weir gateway --workers: after the grace period streams get their terminal error event and are booked; a second signal ends everything at once',
  { skip },
  async () => {
    const directory = mkdtempSync(join(tmpdir(), 'weir-drain-'));
    const pace = 'tokensPerSecond=200;tokensPerFrame=10';
    await using simulator = await startSimulatorProcess(join(directory, 'truth.jsonl'), { pace });
    const start = (timeouts: object) =>
      startWeir({
        dataDirectory: directory,
        config: JSON.stringify({ upstreams: simulatedUpstreams(simulator.addresses), timeouts }),
        command: 'gateway',
        commandArguments: ['--workers', '2'],
      });
    let heads = 0;
    const stream = (weir: Awaited<ReturnType<typeof start>>, number: number) =>
      makeCall(weir.gatewayUrl, weir.apiKey, {
        ...modeOf(number),
        stream: true,
        number,
        onHead: () => (heads += 1),
        body: modeOf(number).api.dialect === 'anthropic-messages' ? { max_tokens: 100_000 } : {},
        steer: { 'output-tokens': '20000' },
        limitMs: 60_000,
      });
    const untilBegun = (count: number) =>
      eventually(
        () => heads,
        (begun) => begun === count,
      );
    let weir = await start({ drainDelayMs: 0, drainMs: 3000 });
    try {
      const numbers = Array.from({ length: 20 }, (_, index) => index + 1);
      const cut = numbers.map((number) => stream(weir, number));
      await untilBegun(20);
      assert.equal(await weir.stop('SIGTERM'), 0);
      const views = await Promise.all(cut);
      for (const [index, view] of views.entries()) {
        assert.equal(view.status, 200);
        assert.match(view.text, modeOf(index + 1).api.errorEvent);
      }
      weir = await start({ drainDelayMs: 0, drainMs: 60_000 });
      const killed = numbers.map((number) => stream(weir, number + 100));
      await untilBegun(40);
      weir.process.kill('SIGTERM');
      await untilRefused(weir.gatewayUrl);
      await new Promise((resolve) => setTimeout(resolve, 1500));
      assert.equal(await weir.stop('SIGTERM'), 130);
      views.push(...(await Promise.all(killed)));
      weir = await start({ drainDelayMs: 0 });
      const ledger = await openLedger(directory);
      const entries = await eventually(
        () => ledger.all(),
        ({ length }) => length === 40,
      );
      await ledger.close();
      assert.equal(entries.filter(({ end }) => end === 'cut').length, 20);
      assert.equal(entries.filter(({ end }) => end === 'lost').length, 20);
      const audit = auditBooks({ entries, truths: simulator.truths(), clients: views });
      assert.deepEqual(audit.problems, []);
      assert.ok(audit.witnessed > 0, 'the streams had progress to record');
    } finally {
      await weir[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true, force: true });
    }
  },
);
