import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';

import { openLedger } from '../support/read-ledger.ts';
import { call, eventually, post } from '../support/http.ts';
import { startSimulatedProgram } from '../support/start-simulated-weir.ts';
import { type RunningWeir, startWeir } from '../support/start-weir.ts';

const body = {
  model: 'gpt-4.1',
  background: true,
  input: '[[simulator output-tokens=2000 pace=tokensPerSecond=50;tokensPerFrame=1]] Hello',
};
const keyOf = ({ apiKey }: RunningWeir) => ({ authorization: `Bearer ${apiKey}` });
const begin = async (weir: RunningWeir): Promise<string> => {
  const { status, json, text } = await post(`${weir.gatewayUrl}/v1/responses`, body, keyOf(weir));
  assert.equal(status, 200, text);
  return json.id;
};
const show = (weir: RunningWeir, id: string) => call(`${weir.gatewayUrl}/v1/responses/${id}`, { headers: keyOf(weir) });
const cancel = (weir: RunningWeir, id: string) =>
  call(`${weir.gatewayUrl}/v1/responses/${id}/cancel`, { method: 'POST', headers: keyOf(weir) });
const statusOf = async (weir: RunningWeir, id: string): Promise<string> => (await show(weir, id)).json?.status;
const follow = (weir: RunningWeir, id: string, after: number) =>
  call(`${weir.gatewayUrl}/v1/responses/${id}?stream=true&starting_after=${after}`, { headers: keyOf(weir) });

/** Starts a Weir on a data directory that outlives it. */
async function startTwice(use: (start: () => Promise<RunningWeir>) => Promise<void>): Promise<void> {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'weir-background-'));
  const started: RunningWeir[] = [];
  try {
    await use(async () => {
      const weir = await startWeir({ dataDirectory, config: JSON.stringify({ timeouts: { drainMs: 500 } }) });
      started.push(weir);
      return weir;
    });
  } finally {
    for (const weir of started) await weir.stop('SIGKILL');
    rmSync(dataDirectory, { recursive: true, force: true });
  }
}

// Each test mostly waits for its own gateway.
describe('how background responses end', { concurrency: true }, () => {
  test('a gateway that is killed leaves a response that fails with a reason within its lease, and is booked once', () =>
    startTwice(async (start) => {
      const first = await start();
      const id = await begin(first);
      await eventually(
        () => statusOf(first, id),
        (status) => status === 'in_progress',
      );
      await first.stop('SIGKILL');
      const second = await start();
      const killedAtMs = performance.now();
      // On a busy machine it is killed before more than its beginning is stored.
      const followed = await follow(second, id, 0);
      assert.ok(
        performance.now() - killedAtMs < 45_000,
        'the failure is visible within its lease, and not only when its call would have been over',
      );
      assert.match(followed.text, /event: response\.failed\n[^]*$/);
      const { json } = await show(second, id);
      assert.equal(json.status, 'failed');
      assert.notEqual(json.error.message, '');
      const cancelled = await cancel(second, id);
      assert.deepEqual([cancelled.status, cancelled.json.error.message], [400, 'Cannot cancel a failed response.']);
      const ledger = await openLedger(second.dataDirectory);
      const rows = await eventually(ledger.all, ({ length }) => length > 0);
      assert.equal(rows.length, 1);
      await ledger.close();
    }));

  test('a gateway that stops gives its responses the grace period, and the others fail with a reason', () =>
    startTwice(async (start) => {
      const first = await start();
      const id = await begin(first);
      await eventually(
        () => statusOf(first, id),
        (status) => status === 'in_progress',
      );
      assert.equal(await first.stop('SIGTERM'), 0);
      const second = await start();
      const { json } = await show(second, id);
      assert.equal(json.status, 'failed');
      assert.match(json.error.message, /shut down/);
    }));

  test('workers cancel and follow responses that another worker generates', async () => {
    await using running = await startSimulatedProgram({ weir: { command: 'gateway', commandArguments: ['--workers', '2'] } });
    const { weir } = running;
    for (let round = 0; round < 2; round += 1) {
      const id = await begin(weir);
      await eventually(
        () => statusOf(weir, id),
        (status) => status === 'in_progress',
      );
      const following = follow(weir, id, 0);
      const { status, json, text } = await cancel(weir, id);
      assert.deepEqual([status, json.status], [200, 'cancelled'], text);
      assert.match((await following).text, /event: response\.cancelled\n/);
      assert.equal(await statusOf(weir, id), 'cancelled');
    }
    await eventually(
      () => running.simulator.records().filter((record) => record.method === 'POST'),
      (records) => records.length === 2 && records.every(({ ending }) => ending !== 'open'),
    );
  });
});
