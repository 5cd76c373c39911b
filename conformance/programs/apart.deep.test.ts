import assert from 'node:assert/strict';
import { test } from 'node:test';

import { compareStatistics, plannedUsage, priceOf } from '../support/audit.ts';
import { openLedger } from '../support/read-ledger.ts';
import { call, eventually, post } from '../support/http.ts';
import { chatInterfaces } from '../support/interfaces.ts';
import { startSimulatedGateway, startSimulatedProgram } from '../support/start-simulated-weir.ts';
import { startWeir } from '../support/start-weir.ts';
import { makeCall, modeOf } from '../books/load.ts';

test('gateway and monitor as two processes on one data directory', async () => {
  await using simulated = await startSimulatedProgram({ weir: { command: 'gateway' } });
  const { weir } = simulated;
  await using monitor = await startWeir({
    command: 'monitor',
    dataDirectory: weir.dataDirectory,
    environment: { WEIR_CONFIG: `${weir.dataDirectory}/weir.yaml` },
  });
  assert.equal(weir.monitorUrl, '');
  assert.equal(monitor.gatewayUrl, '');
  const ledger = await openLedger(weir.dataDirectory);
  for (let number = 1; number <= 20; number++) {
    const view = await makeCall(weir.gatewayUrl, weir.apiKey, { ...modeOf(number), number });
    assert.ok(view.complete);
    await ledger.row(view.callId ?? '');
  }
  assert.deepEqual(await compareStatistics(monitor.monitorUrl, monitor.billingToken, await ledger.all()), []);
  assert.equal((await post(`${monitor.monitorUrl}/bill/stats`, {}, { token: 'wrong-token' })).status, 401);
  // Either may start and stop without the other.
  assert.equal(await monitor.stop('SIGTERM'), 0);
  assert.ok((await makeCall(weir.gatewayUrl, weir.apiKey, { ...modeOf(30), number: 30 })).complete);
  await using again = await startWeir({
    command: 'monitor',
    dataDirectory: weir.dataDirectory,
    environment: { WEIR_CONFIG: `${weir.dataDirectory}/weir.yaml` },
  });
  assert.equal(await weir.stop('SIGTERM'), 0);
  assert.deepEqual(await compareStatistics(again.monitorUrl, again.billingToken, await ledger.all()), []);
  await ledger.close();
  assert.equal(await again.stop('SIGINT'), 0);
});

test('every answer has a request id of its own, and errors contain it if their dialect has a field for it', async () => {
  await using simulated = await startSimulatedGateway();
  const { weir } = simulated;
  const ids: string[] = [];
  const keep = (answer: Awaited<ReturnType<typeof call>>): string => {
    const id = String(answer.headers['x-weir-request-id']);
    assert.match(id, /^req_[0-9a-z]{26}$/, answer.text);
    ids.push(id);
    return id;
  };
  const auth = { authorization: `Bearer ${weir.apiKey}` };
  for (const path of ['/', '/health', '/health/live', '/health/ready', '/v1/models', '/nothing'])
    keep(await call(`${weir.gatewayUrl}${path}`, { headers: auth }));
  for (const api of chatInterfaces) {
    const url = `${weir.gatewayUrl}${api.path(api.model)}`;
    const good = await post(url, api.body(api.model, 'Hello'), { ...auth, ...api.headers });
    keep(good);
    // The vendor's own id is passed on beside it.
    if (api.dialect !== 'gemini-generate-content') assert.ok(good.headers['request-id'] ?? good.headers['x-request-id']);
    for (const answer of [
      await post(url, {}, { ...auth, ...api.headers }),
      await post(url, api.body(api.model, 'x'), api.headers),
      await call(url, { method: 'PUT', headers: auth }),
    ]) {
      const id = keep(answer);
      if (api.dialect === 'anthropic-messages') assert.equal(answer.json.request_id, id);
    }
    const failed = await post(url, api.body(api.model, 'Hello'), { ...auth, ...api.headers, 'x-simulator-fault': 'refuse' });
    const id = keep(failed);
    const ledger = await openLedger(weir.dataDirectory);
    assert.equal((await ledger.row(id)).end, 'failed');
    await ledger.close();
  }
  assert.equal(new Set(ids).size, ids.length);
});

/** Runs before the program and moves its wall clock back and forth, also in threads of the process. */
const jumpingClock = `
  const real = Date.now;
  const started = performance.now();
  const offsets = [0, -3600e3, 3600e3, -1800e3, 0];
  Date.now = () => real() + offsets[Math.floor((performance.now() - started) / 700) % offsets.length];
`;

test('a wall clock that jumps by an hour back and forth: no call ends early, no time is negative, nothing is booked twice or lost', async () => {
  await using simulated = await startSimulatedProgram({
    timeouts: { idleMs: 10_000, firstByteMs: 10_000 },
    weir: { nodeArguments: ['--import', `data:text/javascript,${encodeURIComponent(jumpingClock)}`] },
  });
  const { weir, simulator } = simulated;
  const views = await Promise.all(
    Array.from({ length: 60 }, async (_, index) => {
      await new Promise((resolve) => setTimeout(resolve, index * 60));
      return makeCall(weir.gatewayUrl, weir.apiKey, {
        ...modeOf(index),
        number: index + 1,
        steer: { 'output-tokens': '150', pace: 'tokensPerSecond=150' },
      });
    }),
  );
  for (const view of views) assert.ok(view.complete, `${view.dialect}: ${view.status} ${view.text.slice(-300)}`);
  const ledger = await openLedger(weir.dataDirectory);
  const rows = await eventually(ledger.all, (entries) => entries.length === views.length);
  const truths = new Map(simulator.records().map((truth) => [truth.tag, truth]));
  const times = new Set<number>();
  for (const view of views) {
    const row = await ledger.row(view.callId ?? '');
    const truth = truths.get(view.tag);
    assert.ok(truth);
    assert.ok(row.durationMs >= 0 && row.durationMs < 600_000, `${row.durationMs} ms`);
    assert.ok((row.firstByteMs ?? 0) >= 0);
    // A cached input has another price, and the same sum.
    assert.equal(row.end, 'finished');
    assert.equal(row.charge.amountNanoUsd, priceOf(row, plannedUsage(truth)));
    times.add(Math.round((row.acceptedAtMs - Date.now()) / 1_800_000));
  }
  assert.ok(times.size >= 3, 'the clock jumped');
  assert.equal(new Set(rows.map(({ callId }) => callId)).size, views.length);
  assert.deepEqual(await compareStatistics(weir.monitorUrl, weir.billingToken, rows), []);
  await ledger.close();
  assert.equal(await weir.stop('SIGINT'), 0);
});
