import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { compareStatistics } from '../support/audit.ts';
import { type Ledger, openLedger } from '../support/read-ledger.ts';
import { type Answer, call, eventually, post } from '../support/http.ts';
import { usualOrLong } from '../support/scale.ts';
import { type SimulatedWeir, startSimulatedWeir } from '../support/start-simulated-weir.ts';

const readers = 16;
const reads = usualOrLong(250, 1000);

describe('a call is booked once, however often its results are read', () => {
  let running: SimulatedWeir;
  let ledger: Ledger;
  before(async () => {
    running = await startSimulatedWeir({
      models: { foreign: { targets: [{ upstream: 'anthropic', model: 'claude-sonnet-4-5' }] } },
      config: { monitor: { requestsPerMinute: 100_000 } },
    });
    ledger = await openLedger(running.weir.dataDirectory);
  });
  after(async () => {
    await ledger.close();
    await running[Symbol.asyncDispose]();
  });

  const credentials = () => ({ authorization: `Bearer ${running.weir.apiKey}` });
  const read = (path: string): Promise<Answer> => call(`${running.weir.gatewayUrl}${path}`, { headers: credentials() });
  const send = (path: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Answer> =>
    post(`${running.weir.gatewayUrl}${path}`, body, { ...credentials(), ...headers });

  async function makeVideo(): Promise<string> {
    const body = { model: 'grok-imagine-video', prompt: 'a red kite', duration: 2 };
    const created = await send('/v1/video/generations', body, { 'x-simulator-video': 'ms=100' });
    const id = String(created.json.id);
    await eventually(
      () => read(`/v1/videos/${id}/receipt`),
      ({ json }) => json.receipt !== null,
      30_000,
    );
    return id;
  }

  /** Runs a task many times, a few at a time. */
  async function repeat(times: number, act: (at: number) => Promise<Answer>): Promise<void> {
    let next = 0;
    const work = async (): Promise<void> => {
      for (let at = next++; at < times; at = next++) {
        const answer = await act(at);
        assert.equal(answer.status, 200, answer.text.slice(0, 300));
      }
    };
    await Promise.all(Array.from({ length: readers }, work));
  }

  test(`M11, F33, F34, F36: ${reads} reads of results, and as many of costs, are free`, async () => {
    const created = await send('/v1/responses', { model: 'gpt-4.1', input: 'Hello', store: true });
    const response = `/v1/responses/${String(created.json.id)}`;
    const video = `/v1/videos/${await makeVideo()}`;
    const receipt = String(created.headers['x-weir-receipt']);
    const paths = [response, `${response}/input_items`, receipt, video, `${video}/content`, `${video}/receipt`, '/v1/videos', '/v1/models'];
    const rows = await eventually(
      () => ledger.all(),
      (all) => all.length >= 2,
    );
    assert.ok(rows.every(({ charge }) => charge.amountNanoUsd > 0n));
    await repeat(reads, (at) => read(paths[at % paths.length] ?? ''));
    const now = Math.floor(Date.now() / 1000);
    const span = { startTime: now - 7200, endTime: now + 7200 };
    const { monitorUrl, billingToken } = running.weir;
    await repeat(reads, (at) =>
      post(`${monitorUrl}/bill/${at % 20 === 0 ? 'excel' : 'stats'}`, { type: 1 + (at % 3), ...span }, { token: billingToken }),
    );
    // Booked calls are shipped within a moment: a call that is made now follows everything that the reads could have
    // booked.
    await send('/v1/responses', { model: 'gpt-4.1', input: 'Good-bye' });
    const afterwards = await eventually(
      () => ledger.all(),
      (all) => all.length > rows.length,
    );
    assert.equal(afterwards.length, rows.length + 1);
    for (const row of rows)
      assert.ok(afterwards.some(({ callId, charge }) => callId === row.callId && charge.amountNanoUsd === row.charge.amountNanoUsd));
    assert.deepEqual(await compareStatistics(monitorUrl, billingToken, afterwards), []);
  });

  test('F35: a translated call is one row, one call of the statistics, and is charged once', async () => {
    for (const stream of [false, true]) {
      const known = new Set((await ledger.all()).map(({ callId }) => callId));
      const answer = await send('/v1/responses', { model: 'foreign', input: 'Hello', stream });
      assert.equal(answer.status, 200, answer.text);
      const { translation } = await ledger.row(String(answer.headers['x-weir-request-id']));
      assert.equal(translation?.upstreamDialect, 'anthropic-messages');
      await send('/v1/responses', { model: 'gpt-4.1', input: 'Good-bye' });
      const all = await eventually(
        () => ledger.all(),
        (rows) => rows.length >= known.size + 2,
      );
      assert.equal(all.length, known.size + 2);
      assert.deepEqual(await compareStatistics(running.weir.monitorUrl, running.weir.billingToken, all), []);
    }
  });
});
