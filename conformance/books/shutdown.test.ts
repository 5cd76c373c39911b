import assert from 'node:assert/strict';
import { test } from 'node:test';

import { auditBooks, type ClientView } from '../support/audit.ts';
import { openLedger } from '../support/read-ledger.ts';
import { eventually, untilRefused } from '../support/http.ts';
import { type SimulatedProgram, startSimulatedProgram } from '../support/start-simulated-weir.ts';
import { startWeir } from '../support/start-weir.ts';
import { createRandom, makeCall, modeOf } from './load.ts';

type View = Awaited<ReturnType<typeof makeCall>>;

/** Starts `count` calls that take a while, and waits until the upstream has them all and the streams have begun. */
async function startCalls(
  simulated: SimulatedProgram,
  count: number,
  outputTokens: number,
  tokensPerSecond: number,
  first = 1,
): Promise<readonly Promise<View>[]> {
  const { weir, simulator } = simulated;
  const before = simulator.records().length;
  let heads = 0;
  const calls = Array.from({ length: count }, (_, index) =>
    makeCall(weir.gatewayUrl, weir.apiKey, {
      ...modeOf(first + index),
      number: first + index,
      onHead: () => (heads += 1),
      body: modeOf(first + index).api.dialect === 'anthropic-messages' ? { max_tokens: 100_000 } : {},
      steer: {
        'output-tokens': String(outputTokens),
        pace: `tokensPerSecond=${tokensPerSecond};tokensPerFrame=4`,
        // A whole reply is written at once when it is due, so it must be slow by silence.
        ...(modeOf(first + index).stream ? {} : { fault: `stall-after-headers;ms=${Math.round((outputTokens * 1000) / tokensPerSecond)}` }),
      },
    }),
  );
  await eventually(
    () => simulator.records().filter(({ headersAtMs }) => headersAtMs !== undefined).length,
    (running) => running >= before + count,
  );
  const streams = calls.filter((_, index) => modeOf(first + index).stream).length;
  await eventually(
    () => heads,
    (begun) => begun >= streams,
  );
  return calls;
}

async function assertBooks(simulated: SimulatedProgram, clients: readonly ClientView[]): Promise<void> {
  const ledger = await openLedger(simulated.weir.dataDirectory);
  try {
    const audit = auditBooks({ entries: await ledger.all(), truths: simulator(simulated), clients, lostTokensMax: 0 });
    assert.deepEqual(audit.problems, []);
  } finally {
    await ledger.close();
  }
}

const simulator = ({ simulator: running }: SimulatedProgram) => running.records();

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(`F53, ${signal}: streams that end within the grace period end as usual, everything is booked, exit code 0`, async () => {
    await using simulated = await startSimulatedProgram();
    const calls = await startCalls(simulated, 40, 300, 300);
    const stopped = simulated.weir.stop(signal);
    const views = await Promise.all(calls);
    assert.equal(await stopped, 0);
    for (const view of views) assert.ok(view.complete, `${view.dialect}: ${view.status} ${view.text.slice(-300)}`);
    await assertBooks(simulated, views);
  });
}

test('after the grace period, running calls get their terminal error event or a 503, and are booked', async () => {
  await using simulated = await startSimulatedProgram({ timeouts: { drainMs: 1500 } });
  const calls = await startCalls(simulated, 40, 20_000, 200);
  const startedAtMs = performance.now();
  assert.equal(await simulated.weir.stop('SIGTERM'), 0);
  // By themselves they would run for more than a minute.
  assert.ok(performance.now() - startedAtMs < 40_000);
  const views = await Promise.all(calls);
  for (const [index, view] of views.entries()) {
    const { api, stream } = modeOf(1 + index);
    assert.ok(!view.complete);
    if (stream) {
      assert.equal(view.status, 200);
      assert.match(view.text, api.errorEvent);
      assert.match(view.text, /connection error|terminated/i);
      assert.doesNotMatch(view.text, api.terminal);
    } else {
      assert.equal(view.status, 503, view.text);
      assert.ok(api.errorType(JSON.parse(view.text)));
    }
  }
  await assertBooks(simulated, views);
  const ledger = await openLedger(simulated.weir.dataDirectory);
  const entries = await ledger.all();
  await ledger.close();
  assert.equal(entries.length, 40);
  for (const entry of entries.filter(({ stream }) => stream)) {
    assert.equal(entry.end, 'cut');
    assert.equal(entry.errorCode, 'shutting_down');
    assert.ok(entry.charge.amountNanoUsd > 0n);
  }
});

test('a new call during the drain is refused before it starts, and readiness reports the drain', async () => {
  await using simulated = await startSimulatedProgram();
  const { weir } = simulated;
  const calls = await startCalls(simulated, 4, 1800, 300);
  const stopped = weir.stop('SIGTERM');
  // The port is closed: a load balancer gets refused connections and uses another gateway.
  await untilRefused(weir.gatewayUrl);
  assert.equal(weir.process.exitCode, null, 'while calls are still running');
  const late = await makeCall(weir.gatewayUrl, weir.apiKey, { ...modeOf(0), number: 999 });
  assert.ok(late.status === 0 || late.status === 503);
  const views = await Promise.all(calls);
  assert.ok(views.every(({ complete }) => complete));
  assert.equal(await stopped, 0);
  await assertBooks(simulated, [...views, late]);
});

test('a second signal ends it at once, and the next start settles the running calls', async () => {
  await using simulated = await startSimulatedProgram();
  const { weir } = simulated;
  const calls = await startCalls(simulated, 10, 20_000, 200);
  weir.process.kill('SIGTERM');
  // A repetition at once is the same keystroke, passed on by the program's parent. Time counts from when the program
  // noticed the first signal.
  await untilRefused(weir.gatewayUrl);
  await new Promise((resolve) => setTimeout(resolve, 1500));
  const startedAtMs = performance.now();
  assert.equal(await weir.stop('SIGTERM'), 130);
  // By themselves they would run for more than a minute.
  assert.ok(performance.now() - startedAtMs < 40_000);
  const views = await Promise.all(calls);
  await using again = await startWeir({
    dataDirectory: weir.dataDirectory,
    environment: { WEIR_CONFIG: `${weir.dataDirectory}/weir.yaml` },
  });
  await eventually(
    async () => {
      const ledger = await openLedger(weir.dataDirectory);
      const { length } = await ledger.all();
      await ledger.close();
      return length;
    },
    (rows) => rows >= 10,
  );
  await eventually(again.output, (output) => output.includes('settled from the journal'));
  const ledger = await openLedger(weir.dataDirectory);
  const audit = auditBooks({ entries: await ledger.all(), truths: simulated.simulator.records(), clients: views });
  await ledger.close();
  assert.deepEqual(audit.problems, []);
  assert.ok(audit.witnessed > 0, 'the streams had progress to record');
});

test('SIGTERM under load loses nothing: every call is answered completely or refused, and all are booked', async () => {
  await using simulated = await startSimulatedProgram({ timeouts: { drainMs: 20_000 } });
  const { weir } = simulated;
  const random = createRandom(11);
  const views: View[] = [];
  let number = 0;
  let stopping = false;
  const clients = Array.from({ length: 16 }, async () => {
    for (;;) {
      number += 1;
      const steer = { 'output-tokens': String(10 + Math.floor(random() * 100)), pace: 'tokensPerSecond=1000' };
      const view = await makeCall(weir.gatewayUrl, weir.apiKey, { ...modeOf(number), number, steer });
      views.push(view);
      if (stopping && !view.complete) return;
    }
  });
  await new Promise((resolve) => setTimeout(resolve, 700));
  stopping = true;
  assert.equal(await weir.stop('SIGTERM'), 0);
  await Promise.all(clients);
  const broken = views.filter(({ complete, status }) => !complete && status === 200);
  assert.deepEqual(broken, []);
  await assertBooks(simulated, views);
  const ledger = await openLedger(weir.dataDirectory);
  const entries = await ledger.all();
  await ledger.close();
  assert.equal(entries.filter(({ end }) => end === 'finished').length, views.filter(({ complete }) => complete).length);
});
